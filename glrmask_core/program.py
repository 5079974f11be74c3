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
from typing import TYPE_CHECKING, Any, NoReturn

from .checks import as_u32
from .constraint import Constraint, check_vocab, compile_options, select_engine
from .errors import ArgumentTypeError, GrammarError, LimitExceededError
from .ir import Builder, Module, Op

if TYPE_CHECKING:
    from .options import Limits, Optimization
    from .vocab import ExactToken, ExactTokens, Vocab

MAX_TEXT = 64 << 20  # bytes of a definition
MAX_SYMBOLS = 1 << 20
MAX_STATES = 1 << 20  # of all graphs together
MAX_EDGES = 1 << 22
_GRAPHS = ("pop", "read", "push")
_LINKS = (("pop_to_read", "pop", "read"), ("pop_to_push", "pop", "push"), ("read_to_push", "read", "push"))
_TEMPLATE = (*_GRAPHS, *(name for name, _, _ in _LINKS))
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
        value = _read(definition)
        self._definition = _Checker().definition(value)
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
        and all(link is None for name, _, _ in _LINKS for link in template[name])
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


# -- checking a definition ------------------------------------------------------------------------------------


def _read(definition: Any) -> Any:
    """The definition as fresh plain data."""
    if isinstance(definition, str):
        text = definition
    elif isinstance(definition, Mapping):
        try:
            text = json.dumps(definition, default=_plain)
        except TypeError as error:
            raise ArgumentTypeError(f"the definition is not JSON-serializable: {error}") from None
        except (ValueError, RecursionError) as error:
            raise GrammarError(f"the definition is not JSON: {error}") from None
    else:
        raise ArgumentTypeError(f"a definition must be JSON text or a mapping, not {type(definition).__name__}")
    if len(text) > MAX_TEXT or (len(text) > MAX_TEXT // 4 and len(text.encode("utf-8", "replace")) > MAX_TEXT):
        raise LimitExceededError(f"the definition has more than {MAX_TEXT} bytes", "definition_bytes")
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        if isinstance(error, GrammarError):
            raise
        raise GrammarError(f"the definition is not JSON: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise GrammarError(f'the definition gives "{twice}" twice in one object')
    return made


def _fail(path: str, what: str) -> NoReturn:
    raise GrammarError(f"{path or 'definition'}: {what}")


def _object(value: Any, path: str, keys: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(path, f"expected an object, found {_kind(value)}")
    for key in keys:
        if key not in value:
            _fail(path, f'the field "{key}" is missing')
    for key in value:
        if key not in keys:
            _fail(path, f'unknown field "{key}"; its fields: {", ".join(keys)}')
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(path, f"expected an array, found {_kind(value)}")
    return value


def _number(value: Any, path: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        _fail(path, f"expected an integer in {low}..{high}, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    return json.dumps(value)[:40]


class _Checker:
    """Checks one definition and counts its states and edges."""

    def __init__(self) -> None:
        self._states = self._edges = 0

    def definition(self, value: Any) -> dict[str, Any]:
        top = _object(value, "", ("stack_symbol_count", "terminals", "completion"))
        count = top["stack_symbol_count"]
        if type(count) is int and count > MAX_SYMBOLS:
            raise LimitExceededError(f"stack_symbol_count is {count}, at most {MAX_SYMBOLS}", "stack_symbol_count")
        count = _number(count, "stack_symbol_count", 1, MAX_SYMBOLS)
        for at, template in enumerate(_list(top["terminals"], "terminals")):
            self._template(template, f"terminals[{at}]", count)
        self._template(top["completion"], "completion", count)
        return top

    def _template(self, value: Any, path: str, count: int) -> None:
        template = _object(value, path, _TEMPLATE)
        sizes = {name: self._graph(template[name], f"{path}.{name}", count, name == "pop") for name in _GRAPHS}
        for name, source, target in _LINKS:
            links = _list(template[name], f"{path}.{name}")
            if len(links) > sizes[source]:
                _fail(f"{path}.{name}", f"{len(links)} links, but {source} has {sizes[source]} state(s)")
            for at, link in enumerate(links):
                if link is not None:
                    _number(link, f"{path}.{name}[{at}]", 0, sizes[target] - 1)

    def _graph(self, value: Any, path: str, count: int, is_pop: bool) -> int:
        graph = _object(value, path, ("start", "states"))
        states = _list(graph["states"], f"{path}.states")
        if not states:
            _fail(f"{path}.states", "a graph needs at least one state")
        self._states += len(states)
        if self._states > MAX_STATES:
            raise LimitExceededError(f"{path}: more than {MAX_STATES} states in all", "states")
        _number(graph["start"], f"{path}.start", 0, len(states) - 1)
        targets = [
            self._state(state, f"{path}.states[{at}]", count, len(states), is_pop) for at, state in enumerate(states)
        ]
        _acyclic(targets, path)
        return len(states)

    def _state(self, value: Any, path: str, count: int, states: int, is_pop: bool) -> list[int]:
        """Checks a state; returns the targets of its transitions."""
        state = _object(value, path, ("accepting", "transitions"))
        if not isinstance(state["accepting"], bool):
            _fail(f"{path}.accepting", f"expected true or false, found {_kind(state['accepting'])}")
        transitions = _list(state["transitions"], f"{path}.transitions")
        self._edges += len(transitions)
        if self._edges > MAX_EDGES:
            raise LimitExceededError(f"{path}: more than {MAX_EDGES} transitions in all", "edges")
        seen: set[int] = set()
        targets = []
        for at, transition in enumerate(transitions):
            where = f"{path}.transitions[{at}]"
            edge = _object(transition, where, ("label", "target"))
            label = _label(edge["label"], f"{where}.label", count, is_pop)
            if label in seen:
                _fail(f"{where}.label", "a second transition with this label leaves the state")
            seen.add(label)
            targets.append(_number(edge["target"], f"{where}.target", 0, states - 1))
        return targets


def _label(value: Any, path: str, count: int, is_pop: bool) -> int:
    """The symbol of a label, -1 for Default."""
    if value == "Default":
        if not is_pop:
            _fail(path, '"Default" is for pop graphs only')
        return -1
    if not isinstance(value, dict):
        _fail(path, f'expected {{"Symbol": n}} or "Default", found {_kind(value)}')
    return _number(_object(value, path, ("Symbol",))["Symbol"], f"{path}.Symbol", 0, count - 1)


def _acyclic(targets: list[list[int]], path: str) -> None:
    """Kahn's algorithm: states that no edge enters are taken away until none is left."""
    entering = [0] * len(targets)
    for row in targets:
        for target in row:
            entering[target] += 1
    todo = [state for state, count in enumerate(entering) if not count]
    left = len(targets)
    while todo:
        left -= 1
        for target in targets[todo.pop()]:
            entering[target] -= 1
            if not entering[target]:
                todo.append(target)
    if left:
        state = next(s for s, count in enumerate(entering) if count)
        _fail(f"{path}.states", f"the graph has a cycle at or before state {state}; it must be acyclic")
