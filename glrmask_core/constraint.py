"""``Constraint``: a closed, compiled grammar, ready to run; and the arguments that every way to one shares."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from .checks import Closed, as_bool, as_list, as_text_bytes, as_u32
from .errors import ArgumentTypeError, CompileError, LimitExceededError
from .options import CompileOptions, Limits, Optimization, ParserBackend
from .plugins import manager
from .protocols import CompileReport
from .state import Commit, ConstraintState, fill_masks, raise_commit
from .vocab import ExactToken, ExactTokens, Vocab

if TYPE_CHECKING:
    from typing import NoReturn

    import numpy as np

    from .ir import Module
    from .program import ParserProgram
    from .protocols import CompiledGrammar, Engine
    from .source import Diagnostic

__all__ = ["Commit", "Constraint", "ConstraintState", "fill_masks", "raise_commit"]

DEFAULT_ROLLBACK = 64
ID_CAP = 2**24
_LIMITS = Limits()


class Constraint(Closed):
    """Immutable and thread-safe; starts any number of states. Made by ``compile()``, ``link()`` and ``load()``."""

    __slots__ = (
        "__weakref__",
        "_compiled",
        "_engine",
        "_left_out",
        "_mask_len",
        "_module",
        "_options",
        "_program",
        "_seconds",
        "_vocab",
        "_warnings",
        "_width",
    )
    _made_by = "Grammar.compile(), UnlinkedConstraint.link(), ParserProgram.compile() or Constraint.load()"

    _compiled: CompiledGrammar
    _engine: str
    _left_out: tuple[str, ...]
    _mask_len: int
    _module: Module
    _options: CompileOptions
    _program: tuple[ParserProgram, int | None] | None
    _seconds: Mapping[str, float]
    _vocab: Vocab
    _warnings: tuple[Diagnostic, ...]
    _width: int

    @classmethod
    def _make(
        cls,
        module: Module,
        vocab: Vocab,
        options: CompileOptions,
        engine: str,
        compiled: CompiledGrammar,
        left_out: tuple[str, ...] = (),
        warnings: tuple[Diagnostic, ...] = (),
        seconds: Mapping[str, float] = {},
        program: tuple[ParserProgram, int | None] | None = None,
    ) -> Constraint:
        self = cls._new()
        self._module, self._vocab, self._options, self._engine = module, vocab, options, engine
        self._compiled, self._left_out, self._warnings = compiled, few_lines(left_out), tuple(dict.fromkeys(warnings))
        self._seconds, self._program = seconds, program
        self._width = compiled.width
        self._mask_len = (self._width + 31) // 32
        return self

    # -- running ------------------------------------------------------------------------------

    def start(self, max_rollback: int = DEFAULT_ROLLBACK) -> ConstraintState:
        """A fresh, independent state.

        Args:
            max_rollback: how many commits ``rollback`` can undo; 0 costs nothing.
        """
        state = self._compiled.start(as_u32(max_rollback, "start(): max_rollback"))
        state._constraint = self
        return state

    def mask_len(self) -> int:
        """Number of 32-bit words of a packed mask: ``ceil(width / 32)``."""
        return self._mask_len

    def accepts(self, text: str | bytes) -> bool:
        """Whether the whole of ``text`` is a valid output (by bytes; end tokens play no part).

        Raises:
            ArgumentTypeError: neither ``str`` nor bytes.
        """
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else as_text_bytes(text, "text")
        state = self.start(0)
        if data:
            code = state._commit_bytes(data)
            if code in (Commit.LIMIT, Commit.BUSY):
                raise_commit(state, code, data)
            if code:
                return False
        return state.is_accepting()

    def sample(self, rng: np.random.Generator | int | None = None, max_bytes: int = 200) -> bytes:
        """A random valid output, for tests: no particular distribution.

        Args:
            rng: a numpy generator or a seed; None takes seed 0.
            max_bytes: from this length on the shortest completion is taken.

        Raises:
            StateError: every try ended where no bytes complete the output (an exact token is needed, say).
            LimitExceededError: as :meth:`ConstraintState.shortest_completion`.

        Cost: up to 256 commits per byte, then one shortest completion.
        """
        from .search import sample

        return sample(self, rng, as_u32(max_bytes, "sample(): max_bytes"))

    # -- what it is ---------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """Number of mask bits: 1 + the largest id of the vocabulary, exact tokens and end tokens; or 0."""
        return self._width

    @property
    def module(self) -> Module:
        """The closed grammar (for a parser program, its terminals as rules)."""
        return self._module

    @property
    def vocab(self) -> Vocab:
        """The vocabulary it was compiled for."""
        return self._vocab

    @property
    def options(self) -> CompileOptions:
        """What it was compiled with, defaults filled in."""
        return self._options

    @property
    def end_tokens(self) -> list[int]:
        """The end token ids, ascending."""
        return list(self._options.end_tokens)

    @property
    def optimization(self) -> Optimization:
        """What it was compiled for."""
        return self._options.optimization

    @property
    def parser_backend(self) -> ParserBackend:
        """How the parser is represented; kept through save and load."""
        return self._options.parser_backend

    @property
    def engine_name(self) -> str:
        """The engine that compiled it."""
        return self._engine

    @property
    def compiled(self) -> CompiledGrammar:
        """The engine's object."""
        return self._compiled

    @property
    def program(self) -> ParserProgram | None:
        """The parser program it runs, None for a grammar."""
        return self._program[0] if self._program else None

    @property
    def report(self) -> CompileReport:
        """Engine, size figures, seconds by phase, warnings, and what a lenient front-end left out."""
        figures: dict[str, Any] = {"seconds": dict(self._seconds)}
        for name, value in self._compiled.report().items():
            if name == "seconds" and isinstance(value, Mapping):
                figures["seconds"].update(value)
            else:
                figures[name] = value
        return CompileReport(self._engine, self._left_out, self._warnings, figures)

    # -- saving -------------------------------------------------------------------------------

    def save(self, *, external_vocab: bool = False) -> bytes:
        """The constraint as bytes: same inputs, same bytes. A cache, not an interchange format.

        Args:
            external_vocab: leave the token bytes out, as :meth:`save_with_external_vocab`.

        Raises:
            ArgumentTypeError: ``external_vocab`` is no bool.
        """
        from .artifact import save_constraint

        return save_constraint(self, as_bool(external_vocab, "save(): external_vocab"))

    def save_with_external_vocab(self) -> bytes:
        """Like :meth:`save` without the token bytes; loading needs an equal vocabulary."""
        return self.save(external_vocab=True)

    @classmethod
    def load(
        cls,
        data: bytes | bytearray | memoryview,
        vocab: Vocab | None = None,
        *,
        engine: str | None = None,
        background: bool = True,
        limits: Limits | None = None,
    ) -> Constraint:
        """What :meth:`save` made. The data are untrusted: checked, never executed.

        Args:
            data: bytes, or any contiguous buffer.
            vocab: an equal vocabulary to share; needed when the data leave it out.
            engine: run with this engine; None takes the one that saved it, or another if that is not installed.
            background, limits: as for ``Grammar.compile``.

        Raises:
            ArtifactError: corrupt, truncated, another kind or version, vocabulary missing or different.
            PluginError: no installed engine can run it.
        """
        from .artifact import load_constraint

        return load_constraint(as_text_bytes(data, any_format=True), vocab, check_engine(engine), background, limits)

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("a Constraint cannot be pickled; use save() and load()")

    def __copy__(self) -> Constraint:
        return self

    def __deepcopy__(self, memo: object) -> Constraint:
        return self

    def __repr__(self) -> str:
        return f"<Constraint: engine {self._engine}, {len(self._module)} nodes, {self._width} mask bits>"


def few_lines(lines: tuple[str, ...], most: int = 10_000) -> tuple[str, ...]:
    """The lines, or the first ones and how many more there are: children of children may repeat them endlessly."""
    if len(lines) <= most:
        return lines
    return (*lines[: most - 1], f"and {len(lines) - most + 1} more")


# -- arguments that compile, link and load share --------------------------------------------------------------


def check_vocab(vocab: Any) -> Vocab:
    """``vocab`` if it is one."""
    if not isinstance(vocab, Vocab):
        raise ArgumentTypeError(f"vocab must be a glrmask.Vocab, not {type(vocab).__name__}")
    return vocab


def compile_options(
    vocab: Vocab,
    end_tokens: Any,
    optimization: Any,
    parser_backend: Any,
    background: Any = True,
    limits: Any = None,
) -> CompileOptions:
    """Check the arguments of ``compile`` and ``link`` and fill their defaults in.

    Raises:
        ArgumentTypeError: a wrong type.
        IdRangeError: an end token outside 0..2^32-1.
        CompileError: an end token given twice, of another vocabulary, or a giant one nobody knows.
        LimitExceededError: ids that make masks wider than ``limits.mask_bits``.
    """
    if optimization is None:
        optimization = Optimization.AUTO
    elif not isinstance(optimization, Optimization):
        raise ArgumentTypeError(f"optimization must be a glrmask.Optimization, not {type(optimization).__name__}")
    if limits is None:
        limits = _LIMITS
    elif not isinstance(limits, Limits):
        raise ArgumentTypeError(f"limits must be a glrmask.Limits, not {type(limits).__name__}")
    background = as_bool(background, "background")
    backend = check_backend(parser_backend)
    ends = _end_tokens(vocab, end_tokens)
    _check_width(max((vocab.max_id, *ends[-1:])), limits)
    return CompileOptions(ends, optimization, backend, background, limits)


def _check_width(id: int, limits: Limits) -> None:
    """Refuse masks that reach up to ``id`` when they are too wide."""
    if id >= limits.mask_bits:
        raise LimitExceededError(
            f"token id {id} makes every mask {id + 1} bits wide, more than Limits.mask_bits = {limits.mask_bits}; "
            "number the tokens densely, or raise the limit",
            "mask_bits",
        )


def check_backend(parser_backend: Any) -> ParserBackend:
    """A parser backend, the default for None."""
    if parser_backend is None:
        return ParserBackend.TEMPLATE_DFA
    if not isinstance(parser_backend, ParserBackend):
        raise ArgumentTypeError(f"parser_backend must be a glrmask.ParserBackend, not {type(parser_backend).__name__}")
    return parser_backend


def _end_tokens(vocab: Vocab, end_tokens: Any) -> tuple[int, ...]:
    if end_tokens is None:
        return ()
    if isinstance(end_tokens, ExactTokens):
        end_tokens = [vocab_token(end_tokens, i, vocab) for i in end_tokens.ids]
    elif isinstance(end_tokens, Set):
        end_tokens = list(end_tokens)
    elif not (isinstance(end_tokens, Sequence) or hasattr(end_tokens, "dtype")):
        raise ArgumentTypeError(f"end_tokens must be a sequence or set of token ids, not {type(end_tokens).__name__}")
    ids = []
    for at, token in enumerate(as_list(end_tokens, "end_tokens", "token ids")):
        if isinstance(token, ExactToken):
            token = vocab_token(token, token.id, vocab)
        number = as_u32(token, f"end_tokens[{at}]")
        if number >= ID_CAP and not vocab.has(number):
            raise CompileError(
                f"end token {number} is not in the vocabulary and would widen every mask to {number + 1} bits; "
                f"ids outside the vocabulary must be below {ID_CAP}"
            )
        ids.append(number)
    ids.sort()
    for a, b in itertools.pairwise(ids):
        if a == b:
            raise CompileError(f"end token {a} is given twice")
    return tuple(ids)


def vocab_token(token: ExactToken | ExactTokens, id: int, vocab: Vocab) -> int:
    """``id`` of an exact token, if it belongs to ``vocab``."""
    if token.vocab != vocab:
        raise CompileError(f"end token {id} was taken from another vocabulary than the one compiled for")
    return id


def check_exact(module: Module, vocab: Vocab, options: CompileOptions) -> None:
    """Refuse exact tokens that are end tokens, giant ids nobody knows, and masks that are too wide.

    Raises:
        CompileError: naming the id.
    """
    from .ir_link import exact_ids

    found = exact_ids(module)
    if not len(found):
        return
    ids = set(found.tolist())
    for end in options.end_tokens:
        if end in ids:
            raise CompileError(
                f"token {end} is an end token and an exact token of the grammar; it cannot be both, use another id"
            )
    for id in ids:
        if id >= ID_CAP and not vocab.has(id):
            raise CompileError(
                f"exact token {id} is not in the vocabulary and would widen every mask to {id + 1} bits; "
                f"ids outside the vocabulary must be below {ID_CAP}"
            )
    _check_width(max(ids), options.limits)


def compile_module(
    module: Module,
    vocab: Vocab,
    options: CompileOptions,
    engine: Engine,
    left_out: tuple[str, ...],
    warnings: tuple[Diagnostic, ...],
    parse_seconds: float,
    parts: Sequence[Constraint] = (),
) -> Constraint:
    """The last step of ``compile`` and ``link``: a closed module goes to an engine.

    ``parts`` are what was linked; an engine with a ``link`` of its own gets those that it has compiled.
    """
    check_exact(module, vocab, options)
    started = time.perf_counter()
    own = list(dict.fromkeys(part.compiled for part in parts if part.engine_name == engine.name))
    link = getattr(engine, "link", None) if own else None
    compiled = engine.compile(module, vocab, options) if link is None else link(module, vocab, options, own)
    seconds = {"parse": parse_seconds, "engine": time.perf_counter() - started}
    return Constraint._make(module, vocab, options, engine.name, compiled, left_out, warnings, seconds)


def select_engine(options: CompileOptions, name: Any, programs: bool = False) -> Engine:
    """The engine for these options; see :meth:`PluginManager.engine`."""
    return manager().engine(options.optimization, options.parser_backend, check_engine(name), programs)


def check_engine(name: Any) -> str | None:
    """The name of an engine, or None."""
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(f"engine must be the name of an engine, not {type(name).__name__}")
    return name
