"""``UnlinkedConstraint``: a grammar prepared for one vocabulary whose slots take compiled parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from .checks import Closed, as_text_bytes
from .constraint import Constraint, check_backend, compile_module, compile_options, select_engine
from .errors import ArgumentTypeError, BindError
from .ir import Module
from .slots import find_slot, slot_list
from .vocab import ExactToken, ExactTokens, Vocab

if TYPE_CHECKING:
    from typing import NoReturn

    from .options import Limits, Optimization, ParserBackend
    from .source import Diagnostic


class Child(NamedTuple):
    """What a grammar slot is bound to: the child's module, or why it cannot be embedded."""

    module: Module | None
    left_out: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    compiled: Constraint | None = None
    """Not saved: what the engine may use again."""


def one_module(module: Module, others: Iterable[Module | None]) -> Module:
    """The first of ``others`` that is equal to ``module``, places included, or else ``module``.

    Linking copies one module once, however many slots it fills; so equal children are made one.
    """
    for other in others:
        if other is module:
            return module
        if other is not None and len(other) == len(module) and (other.rows, other.blob) == (module.rows, module.blob):
            from .ir_codec import encode

            if encode(other) == encode(module):
                return other
    return module


class UnlinkedConstraint(Closed):
    """Immutable and thread-safe. Made by ``Grammar.compile_unlinked()`` and ``load()``."""

    __slots__ = (
        "__weakref__",
        "_backend",
        "_children",
        "_left_out",
        "_module",
        "_seconds",
        "_tokens",
        "_vocab",
        "_warnings",
    )
    _made_by = "Grammar.compile_unlinked() or UnlinkedConstraint.load()"

    _backend: ParserBackend
    _children: Mapping[str, Child]
    _left_out: tuple[str, ...]
    _module: Module
    _seconds: float
    _tokens: Mapping[str, tuple[int, ...]]
    _vocab: Vocab
    _warnings: tuple[Diagnostic, ...]

    @classmethod
    def _make(
        cls,
        module: Module,
        vocab: Vocab,
        backend: ParserBackend,
        left_out: tuple[str, ...],
        warnings: tuple[Diagnostic, ...],
        seconds: float,
        children: Mapping[str, Child] = {},
        tokens: Mapping[str, tuple[int, ...]] = {},
    ) -> UnlinkedConstraint:
        self = cls._new()
        self._module, self._vocab, self._backend = module, vocab, backend
        self._left_out, self._warnings, self._seconds = left_out, warnings, seconds
        self._children, self._tokens = children, tokens
        return self

    @property
    def vocab(self) -> Vocab:
        """The vocabulary it was compiled for."""
        return self._vocab

    @property
    def module(self) -> Module:
        """The grammar, open slots and all; what is bound is not in it."""
        return self._module

    @property
    def parser_backend(self) -> ParserBackend:
        """How the parser will be represented, unless ``link`` says otherwise."""
        return self._backend

    def unbound_slots(self) -> dict[str, str]:
        """Open slots and their kinds, ``"grammar"`` or ``"token"``, in declaration order."""
        return {s: k for s, k in self._module.slots.items() if s not in self._children and s not in self._tokens}

    def bind(self, name: str, value: Constraint | ExactToken | ExactTokens) -> UnlinkedConstraint:
        """A copy with one slot filled; the receiver stays as it is.

        A bound constraint gives its language, ignores and exact tokens, not its end tokens.

        Args:
            name: a slot of :meth:`unbound_slots`; ``.`` and ``::`` are read alike.
            value: a compiled constraint for a grammar slot, exact tokens for a token slot.

        Raises:
            ArgumentTypeError: another type of value.
            BindError: no such slot, bound already, of the other kind, or another vocabulary.
        """
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a slot name must be a str, not {type(name).__name__}")
        if not isinstance(value, (Constraint, ExactToken, ExactTokens)):
            raise ArgumentTypeError(
                f"UnlinkedConstraint.bind takes a Constraint or exact tokens, not {type(value).__name__}"
                "; compile it first"
            )
        slot = find_slot(self._module.slots, name)
        if slot is None:
            raise BindError(f'no slot "{name}"; {slot_list(self.unbound_slots())}')
        if slot in self._children or slot in self._tokens:
            raise BindError(f'slot "{name}" is bound already; {slot_list(self.unbound_slots())}')
        kind = "grammar" if isinstance(value, Constraint) else "token"
        if self._module.slots[slot] != kind:
            raise BindError(f'slot "{name}" takes a {self._module.slots[slot]}, not a {kind}')
        if value.vocab is not self._vocab and value.vocab != self._vocab:
            raise BindError(f'slot "{name}": the value belongs to another vocabulary than this constraint')
        children, tokens = self._children, self._tokens
        if isinstance(value, Constraint):
            module = None if value.program else one_module(value.module, (c.module for c in children.values()))
            children = {**children, slot: Child(module, value._left_out, value._warnings, value)}
        else:
            tokens = {**tokens, slot: value._ids}
        return self._make(
            self._module, self._vocab, self._backend, self._left_out, self._warnings, self._seconds, children, tokens
        )

    def link(
        self,
        *,
        end_tokens: Iterable[int | ExactToken] | ExactTokens | None = None,
        optimization: Optimization | None = None,
        parser_backend: ParserBackend | None = None,
        engine: str | None = None,
        background: bool = True,
        limits: Limits | None = None,
    ) -> Constraint:
        """Put the bound parts together into a constraint that runs.

        Args:
            end_tokens, optimization, engine, background, limits: as for ``Grammar.compile``.
            parser_backend: None takes the one given to ``compile_unlinked``.

        Raises:
            BindError: an open slot, or a child that cannot be embedded (a parser program).
            Others: as ``Grammar.compile``.

        Cost: copying the children's arrays, and the engine's work.
        """
        from .ir_link import inline

        backend = self._backend if parser_backend is None else check_backend(parser_backend)
        options = compile_options(self._vocab, end_tokens, optimization, backend, background, limits)
        chosen = select_engine(options, engine)
        unbound = self.unbound_slots()
        if unbound:
            raise BindError(f"unbound: {slot_list(unbound)}; bind() all before link()")
        modules: dict[str, Module] = {}
        left_out, warnings = self._left_out, self._warnings
        for slot, child in sorted(self._children.items()):
            if child.module is None:
                raise BindError(f'slot "{slot}": a parser program cannot be embedded; bind a compiled grammar')
            modules[slot] = child.module
            left_out += tuple(f'in "{slot}": {line}' for line in child.left_out)
            warnings += child.warnings
        module = inline(self._module, modules, self._tokens)
        parts = [child.compiled for child in self._children.values() if child.compiled is not None]
        return compile_module(module, self._vocab, options, chosen, left_out, warnings, self._seconds, parts)

    def save(self) -> bytes:
        """Everything as bytes, vocabulary and partial binds included: same inputs, same bytes."""
        from .artifact import save_unlinked

        return save_unlinked(self)

    @classmethod
    def load(cls, data: bytes | bytearray | memoryview, vocab: Vocab | None = None) -> UnlinkedConstraint:
        """What :meth:`save` made. The data are untrusted: checked, never executed.

        Args:
            data: bytes, or any contiguous buffer.
            vocab: an equal vocabulary to share instead of the saved one.

        Raises:
            ArtifactError: corrupt, truncated, another kind or version, a different vocabulary.
        """
        from .artifact import load_unlinked

        return load_unlinked(as_text_bytes(data, any_format=True), vocab)

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("an UnlinkedConstraint cannot be pickled; use save() and load()")

    def __copy__(self) -> UnlinkedConstraint:
        return self

    def __deepcopy__(self, memo: object) -> UnlinkedConstraint:
        return self

    def __repr__(self) -> str:
        return f"<UnlinkedConstraint: {len(self._module)} nodes, {slot_list(self.unbound_slots())}>"
