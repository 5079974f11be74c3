"""``Grammar``: an immutable description in some format, with source-level bindings.

The text is parsed on first need (``bind``, ``slots``, ``compile``), and once: a grammar and everything
bound from it share the result.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .checks import Closed, own_copy
from .constraint import check_backend, check_vocab, compile_module, compile_options, few_lines, select_engine
from .errors import ArgumentTypeError, BindError
from .options import ParserBackend
from .plugins import format_key, manager
from .slots import check_slots, check_tokens, child_slot, find_slot, slot_list
from .vocab import ExactToken, ExactTokens

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

    from .constraint import Constraint
    from .ir import Module
    from .options import Limits, Optimization
    from .protocols import Frontend, Parsed
    from .source import Diagnostic
    from .unlinked import UnlinkedConstraint
    from .vocab import Vocab


MAX_DEPTH = 250  # levels of bound grammars; each is a level of recursion
MAX_NODES = 1 << 24  # of what is written out once per slot: a child with open slots


class _Source:
    """A text with its front-end; parsed once."""

    __slots__ = ("format", "frontend", "key", "options", "parsed", "seconds", "text")

    def __init__(self, format: str, frontend: Frontend, text: str, options: Mapping[str, Any]) -> None:
        self.format, self.frontend, self.text, self.options = format, frontend, text, own_copy(options)
        self.key = format, text, _spelled(self.options)
        self.parsed: Parsed | None = None
        self.seconds = 0.0

    def parse(self) -> Parsed:
        parsed = self.parsed
        if parsed is None:
            started = time.perf_counter()
            parsed = self.frontend.parse(self.text, self.options)
            self.seconds = time.perf_counter() - started
            self.parsed = parsed
        return parsed


class Resolved(NamedTuple):
    """A grammar with its bindings filled in."""

    module: Module
    exact: tuple[tuple[str, ExactToken | ExactTokens], ...]
    left_out: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    seconds: float


class Grammar(Closed):
    """Immutable; equal when format, text, options and bindings are equal. Made by the ``from_...`` methods."""

    __slots__ = ("__weakref__", "_bindings", "_depth", "_digest", "_resolved", "_source")
    _made_by = "Grammar.from_glrm(), from_ebnf(), from_lark(), from_json_schema() or from_source()"

    _source: _Source
    _bindings: Mapping[str, Grammar | ExactToken | ExactTokens]
    _depth: int
    """Levels of bound grammars below it."""
    _digest: bytes | None
    _resolved: Resolved | None

    # -- constructors -------------------------------------------------------------------------

    @classmethod
    def from_glrm(cls, source: str, **options: Any) -> Grammar:
        """A grammar in GLRM, the native format.

        Raises:
            ArgumentTypeError: not a ``str``, or an option the front-end does not have.
            UnknownFormatError: the front-end is not installed. The text itself is read later.
        """
        return cls._from("glrm", source, options)

    @classmethod
    def from_ebnf(cls, source: str, **options: Any) -> Grammar:
        """A grammar in EBNF (``name ::= ...``). Raises as :meth:`from_glrm`."""
        return cls._from("ebnf", source, options)

    @classmethod
    def from_lark(cls, source: str, **options: Any) -> Grammar:
        """A grammar in Lark's format. Raises as :meth:`from_glrm`."""
        return cls._from("lark", source, options)

    @classmethod
    def from_json_schema(cls, schema: Any, **options: Any) -> Grammar:
        """The JSON documents that are valid by a schema.

        Args:
            schema: JSON text, or anything ``json.dumps`` takes (``dict``, ``bool``), or a class or object with
                ``model_json_schema()``.
            options: see the front-end.

        Raises:
            As :meth:`from_glrm`.
        """
        if not isinstance(schema, (str, dict, bool)):
            make = getattr(schema, "model_json_schema", None)
            if callable(make):
                schema = make()
        return cls._from("jsonschema", schema, options)

    @classmethod
    def from_source(cls, source: Any, format: str, **options: Any) -> Grammar:
        """A grammar in any format that an installed front-end reads.

        Raises:
            As :meth:`from_glrm`.
        """
        if not isinstance(format, str):
            raise ArgumentTypeError(f"format must be a str, not {type(format).__name__}")
        if format_key(format) == "jsonschema":
            return cls.from_json_schema(source, **options)
        return cls._from(format, source, options)

    @classmethod
    def _from(cls, format: str, source: Any, options: Mapping[str, Any]) -> Grammar:
        frontend = manager().frontend(format)
        text = str.__str__(frontend.prepare(source, options))  # of a subclass of str, what it holds
        self = cls._new()
        self._source = _Source(format_key(format), frontend, text, options)
        self._bindings, self._depth, self._digest, self._resolved = {}, 0, None, None
        return self

    # -- what it is ---------------------------------------------------------------------------

    @property
    def format(self) -> str:
        """Name of its format."""
        return self._source.format

    @property
    def text(self) -> str:
        """Its source (JSON text for a schema)."""
        return self._source.text

    @property
    def options(self) -> dict[str, Any]:
        """Options for the front-end; a copy."""
        options: dict[str, Any] = own_copy(self._source.options)
        return options

    @property
    def bindings(self) -> dict[str, Grammar | ExactToken | ExactTokens]:
        """What is bound, by slot."""
        return dict(self._bindings)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What its front-end warns of, children included; parses if need be."""
        return self._resolve().warnings

    def slots(self) -> dict[str, str]:
        """Open slots and their kinds, ``"grammar"`` or ``"token"``; those of bound children as ``name.SLOT``.

        Raises:
            GrammarError: the text, or a bound child's, cannot be read.
            BindError: two slots of one name, more than 10,000 open slots, or children with open slots of more than
                16 million nodes together.
        """
        return dict(self._resolve().module.slots)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grammar):
            return NotImplemented
        if self is other or not (self._bindings or other._bindings):
            return self._source.key == other._source.key
        return self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash((self._source.key, tuple(sorted(self._bindings))))

    def __copy__(self) -> Grammar:
        return self

    def __deepcopy__(self, memo: object) -> Grammar:
        return self

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("a Grammar cannot be pickled; keep its source, or save what it compiles to")

    def __repr__(self) -> str:
        bound = f", bound: {', '.join(self._bindings)}" if self._bindings else ""
        return f"<Grammar in {self.format}, {len(self.text)} characters{bound}>"

    # -- binding ------------------------------------------------------------------------------

    def bind(self, name: str, value: Grammar | ExactToken | ExactTokens) -> Grammar:
        """A copy with one slot filled; the receiver stays as it is.

        Args:
            name: a slot, ``name.SLOT`` for one of a bound child, ``inner::SLOT`` for one of an inner scope.
            value: a grammar for a grammar slot, exact tokens for a token slot. A grammar may have open slots.

        Raises:
            ArgumentTypeError: another type of value.
            GrammarError: this grammar's text cannot be read (the child's is not looked at).
            BindError: no such slot, bound already, or of the other kind.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a slot name must be a str, not {type(name).__name__}")
        if not isinstance(value, (Grammar, ExactToken, ExactTokens)):
            raise ArgumentTypeError(
                f"Grammar.bind takes a Grammar or exact tokens, not {type(value).__name__}"
                "; compiled parts are bound to compile_unlinked()"
            )
        return self._bind(name, name, value)

    def _bind(self, name: str, full: str, value: Grammar | ExactToken | ExactTokens) -> Grammar:
        """``bind`` where ``full`` is the name the caller gave and ``name`` what is left of it for this grammar."""
        declared = self._source.parse().module.slots
        slot = find_slot(declared, name)
        bound: Grammar | ExactToken | ExactTokens = value
        if slot is None:
            parent, rest = child_slot((s for s, v in self._bindings.items() if isinstance(v, Grammar)), name)
            if parent is None:
                raise BindError(f'no slot "{full}"; {slot_list(self._open())}')
            child = self._bindings[parent]
            assert isinstance(child, Grammar), "only grammars have slots"
            slot, bound = parent, child._bind(rest, full, value)
        elif slot in self._bindings:
            raise BindError(f'slot "{full}" is bound already; {slot_list(self._open())}')
        else:
            kind = "grammar" if isinstance(value, Grammar) else "token"
            if declared[slot] != kind:
                raise BindError(f'slot "{full}" takes a {declared[slot]}, not a {kind}')
        depth = max(self._depth, bound._depth + 1 if isinstance(bound, Grammar) else 0)
        if depth > MAX_DEPTH:
            raise BindError(f'slot "{full}": grammars are bound more than {MAX_DEPTH} levels deep')
        other = Grammar._new()
        other._source, other._bindings = self._source, {**self._bindings, slot: bound}
        other._depth, other._digest, other._resolved = depth, None, None
        other.digest()  # now that the child has one: later nobody recurses for it
        return other

    def _open(self) -> dict[str, str]:
        """Open slots without looking into children."""
        return {s: k for s, k in self._source.parse().module.slots.items() if s not in self._bindings}

    # -- compiling ----------------------------------------------------------------------------

    def compile(
        self,
        vocab: Vocab,
        *,
        end_tokens: Iterable[int | ExactToken] | ExactTokens | None = None,
        optimization: Optimization | None = None,
        parser_backend: ParserBackend | None = None,
        engine: str | None = None,
        background: bool = True,
        limits: Limits | None = None,
    ) -> Constraint:
        """Compile for a vocabulary.

        Args:
            vocab: the model's vocabulary.
            end_tokens: sequence or set of distinct ids (or exact tokens) that end the output where it is complete.
                They are reserved: their bytes are never text. Ids outside the vocabulary widen the mask.
            optimization: None is ``AUTO``.
            parser_backend: None is ``TEMPLATE_DFA``.
            engine: name of an engine; None takes the best one installed.
            background: False keeps AUTO from filling tables ahead of need.
            limits: None takes the defaults of ``Limits``.

        Raises:
            ArgumentTypeError, IdRangeError: a wrong type or number.
            GrammarError: the grammar, or a bound one, cannot be read or means nothing.
            BindError: an open slot, exact tokens of another vocabulary, or as :meth:`slots`.
            CompileError: end tokens that clash; ``LimitExceededError`` for a limit.
            PluginError: no installed engine can do what is asked.
        """
        options = compile_options(check_vocab(vocab), end_tokens, optimization, parser_backend, background, limits)
        chosen = select_engine(options, engine)
        resolved = self._resolved or self._resolve()
        module = resolved.module
        if module.slots:
            raise BindError(f"unbound: {slot_list(module.slots)}; bind() all, or use compile_unlinked()")
        check_tokens(resolved.exact, vocab)
        return compile_module(module, vocab, options, chosen, resolved.left_out, resolved.warnings, resolved.seconds)

    def compile_unlinked(self, vocab: Vocab, *, parser_backend: ParserBackend | None = None) -> UnlinkedConstraint:
        """Prepare for a vocabulary, leaving slots open for compiled parts.

        Raises:
            As :meth:`compile`, apart from open slots.
        """
        from .unlinked import UnlinkedConstraint

        check_vocab(vocab)
        backend = check_backend(parser_backend)
        if backend is not ParserBackend.TEMPLATE_DFA and not any(
            backend in e.capabilities.parser_backends for e in manager().engines().values()
        ):
            manager().engine(parser_backend=backend)  # raises
        resolved = self._resolve()
        check_tokens(resolved.exact, vocab)
        return UnlinkedConstraint._make(
            resolved.module, vocab, backend, resolved.left_out, resolved.warnings, resolved.seconds
        )

    def _resolve(self) -> Resolved:
        """Parse, and inline what is bound; once."""
        if self._resolved is not None:
            return self._resolved
        parsed = self._source.parse()
        if not self._bindings:
            found = Resolved(parsed.module, (), parsed.left_out, parsed.warnings, self._source.seconds)
        else:
            try:
                found = self._inline(parsed)
            except RecursionError:
                raise BindError("grammars are bound too deeply; expected a few hundred levels at most") from None
        self._resolved = found
        return found

    def _inline(self, parsed: Parsed) -> Resolved:
        from .ir_link import inline

        grammars: dict[str, Module] = {}
        tokens: dict[str, list[int]] = {}
        exact: dict[int, tuple[str, ExactToken | ExactTokens]] = {}  # the first of each vocabulary
        left_out, warnings, seconds = parsed.left_out, parsed.warnings, self._source.seconds
        equal: dict[Grammar, Resolved] = {}  # children of one value are one child
        for slot, value in sorted(self._bindings.items()):
            if isinstance(value, Grammar):
                child = equal.get(value) or value._resolve()
                seconds += 0.0 if value in equal else child.seconds
                equal[value] = child
                grammars[slot] = child.module
                for name, token in child.exact:
                    exact.setdefault(id(token.vocab), (f"{slot}.{name}", token))
                left_out = few_lines((*left_out, *(f'in "{slot}": {line}' for line in child.left_out)))
                warnings = tuple(dict.fromkeys(warnings + child.warnings))
            else:
                tokens[slot] = list(value._ids)
                exact.setdefault(id(value.vocab), (slot, value))
        check_slots(parsed.module, grammars, MAX_NODES)
        return Resolved(inline(parsed.module, grammars, tokens), tuple(exact.values()), left_out, warnings, seconds)

    def digest(self) -> bytes:
        """32 bytes that identify the value: format, text, options, bindings. Nothing is parsed; made once."""
        if self._digest is not None:
            return self._digest
        import hashlib

        h = hashlib.blake2b(digest_size=32)
        for part in self._source.key:
            data = part.encode("utf-8", "surrogatepass")
            h.update(len(data).to_bytes(8, "little") + data)
        for slot, value in sorted(self._bindings.items()):
            if isinstance(value, Grammar):
                entry = b"g" + value.digest()
            else:
                entry = b"t" + value.identity + json.dumps(list(value._ids)).encode()
            h.update(json.dumps(slot).encode() + entry)
        self._digest = h.digest()
        return self._digest


def _spelled(options: Mapping[str, Any]) -> str:
    """Options as text that does not depend on the order of keys."""
    try:
        return json.dumps(options, sort_keys=True, default=repr) if options else ""
    except (TypeError, ValueError):  # keys that cannot be sorted, or a ring
        return repr(options)
    except RecursionError:
        raise ArgumentTypeError("the options nest too deeply; expected at most about 900 levels") from None
