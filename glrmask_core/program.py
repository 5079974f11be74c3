"""``ParserProgram``: a parser given as data, acyclic POP/READ/PUSH graphs per terminal.

The definition is checked in full and copied when the object is made; nothing of the caller's is kept, and
no Python runs while tokens are generated. Its form::

    definition = {"stack_symbol_count": n >= 1, "terminals": [template, ...], "completion": template}
    template   = {"pop": graph, "read": graph, "push": graph,
                  "pop_to_read": links, "pop_to_push": links, "read_to_push": links}
    graph      = {"start": state, "states": [{"accepting": bool,
                  "transitions": [{"label": {"Symbol": s} or "Default", "target": state}, ...]}, ...]}
    links      = [state of the other graph or null, ...]      per source state; a missing tail is null

A configuration is a set of stacks, at first one stack ``[0]``. A template maps a stack to stacks by walks
from the start of ``pop``: a POP edge removes the top symbol it names (``"Default"``: one without an edge of
its own here), a READ edge looks at it, a PUSH edge adds one, links cross to the next graph without input, and
every accepting state on the way gives the stack as it is then. A terminal applies its template to all stacks;
no stack left ends the derivation. The text is complete when ``completion`` gives something.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .checks import as_u32
from .constraint import Constraint, check_vocab, compile_options, select_engine
from .errors import ArgumentTypeError, GrammarError
from .ir import Builder, Module, Op
from .program_definition import LINKS, read_definition

if TYPE_CHECKING:
    from .options import Limits, Optimization
    from .vocab import ExactToken, ExactTokens, Vocab

_IDLE = {"start": 0, "states": [{"accepting": False, "transitions": []}]}
_IDENTITY = {"start": 0, "states": [{"accepting": True, "transitions": []}]}


class ParserProgram:
    """A checked definition. Immutable; equal when the definitions are.

    Args:
        definition: JSON text, or a mapping that ``json.dumps`` takes, with the keys ``stack_symbol_count``,
            ``terminals`` (templates) and ``completion`` (a template).

    Raises:
        ArgumentTypeError: another type.
        GrammarError: bad JSON, or a definition that breaks a rule; the message names the path into it.
        LimitExceededError: text past 64 MiB, more than 2^20 symbols or states, or 2^22 edges.
    """

    __slots__ = ("__weakref__", "_definition", "_json")

    def __init__(self, definition: str | Mapping[str, Any]) -> None:
        self._definition = read_definition(definition)
        self._json: str | None = None

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as plain dicts and lists. Shared: do not change it."""
        return self._definition

    @property
    def terminal_count(self) -> int:
        """Number of terminals."""
        return len(self._definition["terminals"])

    @property
    def stack_symbol_count(self) -> int:
        """Number of stack symbols."""
        count: int = self._definition["stack_symbol_count"]
        return count

    def to_json(self) -> str:
        """The definition as compact JSON; equal definitions give equal text."""
        if self._json is None:
            self._json = json.dumps(self._definition, separators=(",", ":"), sort_keys=True)
        return self._json

    def compile(
        self,
        vocab: Vocab,
        terminal_patterns: Sequence[bytes | str],
        *,
        ignore_terminal: int | None = None,
        end_tokens: Iterable[int | ExactToken] | ExactTokens | None = None,
        optimization: Optimization | None = None,
        engine: str | None = None,
        background: bool = True,
        limits: Limits | None = None,
    ) -> Constraint:
        """Compile for a vocabulary.

        Args:
            vocab: the model's vocabulary.
            terminal_patterns: per terminal, in order, ``bytes`` for a literal or ``str`` for a regular expression.
            ignore_terminal: a terminal that may stand anywhere between others; its template must be the
                canonical identity.
            end_tokens, optimization, engine, background, limits: as for ``Grammar.compile``.

        Raises:
            ArgumentTypeError: a pattern that is neither ``bytes`` nor ``str``, or another wrong type.
            GrammarError: wrong number of patterns, an empty or nullable one, a bad regular expression, or an
                ignore terminal that cannot be one.
            Others: as ``Grammar.compile``.
        """
        options = compile_options(check_vocab(vocab), end_tokens, optimization, None, background, limits)
        ignore = None if ignore_terminal is None else self._ignore(ignore_terminal)
        patterns = _patterns(terminal_patterns, self.terminal_count, ignore)
        chosen = select_engine(options, engine, programs=True)
        compiled = chosen.compile_program(self, patterns, ignore, vocab, options)
        return Constraint._make(patterns, vocab, options, chosen.name, compiled, program=(self, ignore))

    def _ignore(self, ignore_terminal: Any) -> int:
        number = as_u32(ignore_terminal, "ignore_terminal")
        if number >= self.terminal_count:
            raise GrammarError(f"ignore_terminal is {number}, but there are {self.terminal_count} terminals")
        if not is_identity(self._definition["terminals"][number]):
            raise GrammarError(
                f"ignore_terminal: the template of terminal {number} is not the identity (pop: one accepting state "
                "without transitions; read and push: one state that does not accept; no links)"
            )
        return number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParserProgram):
            return NotImplemented
        return self._definition == other._definition

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"<ParserProgram of {self.terminal_count} terminals, {self.stack_symbol_count} stack symbols>"


def is_identity(template: Mapping[str, Any]) -> bool:
    """Whether a template is the canonical one that leaves every stack as it is."""
    return (
        template["pop"] == _IDENTITY
        and template["read"] == _IDLE
        and template["push"] == _IDLE
        and all(link is None for name, _, _ in LINKS for link in template[name])
    )


# -- terminals ------------------------------------------------------------------------------------------------


def _patterns(patterns: Any, count: int, ignore: int | None) -> Module:
    """The module of the terminals: rule i is terminal i."""
    if not isinstance(patterns, Sequence) or isinstance(patterns, (str, bytes, bytearray, memoryview)):
        raise ArgumentTypeError(f"terminal_patterns must be a sequence, not {type(patterns).__name__}")
    for at, pattern in enumerate(patterns):
        if not isinstance(pattern, (str, bytes)):
            raise ArgumentTypeError(f"terminal_patterns[{at}] must be bytes or str, not {type(pattern).__name__}")
    if len(patterns) != count:
        raise GrammarError(f"terminal_patterns has {len(patterns)} entries, the program has {count} terminals")
    builder = Builder()
    calls = []
    for at, pattern in enumerate(patterns):
        lexical = _pattern(builder, at, pattern)
        name = f"terminal {at}"
        calls.append(builder.rule(name, builder.terminal(lexical, name, exempt=at == ignore)))
    return builder.build(builder.choice(calls))


def _pattern(builder: Builder, at: int, pattern: bytes | str) -> int:
    if isinstance(pattern, bytes):
        text = memoryview(pattern).tobytes()  # a subclass may tell another length than it has
        if not text:
            raise GrammarError(f"terminal_patterns[{at}] is empty; a terminal matches at least one byte")
        return builder.literal(text)
    pattern = str.__str__(pattern)
    from .regex import Dialect, RegexError, compile_regex

    try:
        lexical: int = compile_regex(pattern, builder, dialect=Dialect.GLRM)
    except RegexError as error:
        raise GrammarError(f"terminal_patterns[{at}] {pattern!r}: {error}") from None
    if builder.is_nullable(lexical):
        raise GrammarError(f"terminal_patterns[{at}] {pattern!r} matches the empty text; a terminal must not")
    if lexical == builder.nothing():
        raise GrammarError(f"terminal_patterns[{at}] {pattern!r} matches nothing at all")
    return lexical


def check_compiled(program: ParserProgram, module: Module, ignore: object) -> None:
    """Check a loaded module of terminals against its program.

    Raises:
        GrammarError: they do not belong together.
    """
    count = program.terminal_count
    if len(module.rules) != 2 * count:
        raise GrammarError(f"{len(module.rules) // 2} terminals are saved, the program has {count}")
    if ignore is not None:
        if type(ignore) is not int:
            raise GrammarError("the ignore terminal is not a number")
        program._ignore(ignore)
    for at in range(count):
        op, lexical, exempt, _ = module.row(module.rules[2 * at + 1])
        if op != Op.TERMINAL or exempt != (at == ignore):
            raise GrammarError(f"terminal {at} is not saved as one")
        if lexical_nullable(module)[lexical]:
            raise GrammarError(f"terminal {at} matches the empty text")


def lexical_nullable(module: Module) -> list[bool]:
    """Per node whether it is lexical and matches the empty text; children come first, so one pass does."""
    found: list[bool] = []
    args = module.args
    for node in range(len(module)):
        op, a, b, _ = module.row(node)
        if op == Op.LITERAL:
            nullable = b == 0
        elif op == Op.LITERALS:
            nullable = args[a + 1] == 0
        elif op == Op.LEX_SEQ:
            nullable = all(found[x] for x in args[a : a + b])
        elif op == Op.LEX_CHOICE:
            nullable = any(found[x] for x in args[a : a + b])
        elif op == Op.LEX_REPEAT:
            nullable = b == 0 or found[a]
        elif op == Op.BOTH:
            nullable = found[a] and found[b]
        elif op == Op.WITHOUT:
            nullable = found[a] and not found[b]
        elif op == Op.AUTOMATON:
            nullable = args[a + 1] in args[a + 4 + 3 * args[a + 2] : a + b]
        else:
            nullable = False
        found.append(nullable)
    return found
