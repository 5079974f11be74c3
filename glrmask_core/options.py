"""Typed options: what to optimise for, which parser representation, and limits."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, fields

from .errors import ArgumentTypeError, CompileError

_U32 = 2**32 - 1
_BOUNDS: dict[str, tuple[float, float]] = {
    "build_seconds": (1e-6, 1e9),
    "states": (1, _U32),
    "lexer_states": (1, _U32),
    "expansion": (1, _U32),
    "static_pairs": (1, _U32),
    "token_bytes": (1, _U32),
    "mask_bits": (1, 2**32),
    "mask_cache_bytes": (0, 2**63 - 1),
}


class Optimization(enum.Enum):
    """What compiling should favour. Never changes the language or a single mask bit."""

    AUTO = "auto"
    """Start at once, and fill tables ahead of need in the background."""
    FAST_BUILD = "fast_build"
    """Compile as little as possible; compute everything on first need."""
    BALANCED = "balanced"
    """Prepare what is costly for any text (wide terminals), leave the rest to first need."""
    FAST_RUNTIME = "fast_runtime"
    """Close all tables at build time, or raise ``LimitExceededError``."""


class ParserBackend(enum.Enum):
    """How the parser is represented in a compiled constraint."""

    TEMPLATE_DFA = "template_dfa"
    """Finite stack actions per state and terminal; the only bundled representation."""
    LR_TABLE = "lr_table"
    """LR tables. No bundled engine supports it."""


@dataclass(frozen=True)
class Limits:
    """Bounds on compiling and running; past one, ``LimitExceededError`` names the field.

    Attributes:
        build_seconds: wall-clock time that the engine takes for one compile.
        memory_bytes: memory of one compiled constraint, tables filled later included.
        state_bytes: memory of one state: its stacks, its history, what a commit or a mask needs on the way.
        states: automaton states of the syntax network after normalisation.
        lexer_states: distinct states (regular-expression derivatives) of all terminals together.
        expansion: states that expanding one counted repeat may create.
        static_pairs: (view, state) pairs that FAST_RUNTIME may close over.
        static_work: trie nodes that FAST_RUNTIME may walk.
        static_bytes: bytes of tables that FAST_RUNTIME may make.
        token_bytes: longest token of a vocabulary.
        mask_bits: bits of a mask, that is 1 + the largest token id; checked before compiling.
        mask_cache_bytes: final masks kept per constraint (evicted, never an error), and tables that AUTO's worker
            makes ahead of need, at most half of it.
    """

    build_seconds: float = 60.0
    memory_bytes: int = 2 << 30
    state_bytes: int = 512 << 20
    states: int = 4_000_000
    lexer_states: int = 4_000_000
    expansion: int = 2_000
    static_pairs: int = 1 << 20
    static_work: int = 2_000_000_000
    static_bytes: int = 256 << 20
    token_bytes: int = 4096
    mask_bits: int = 1 << 26
    mask_cache_bytes: int = 32 << 20

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ArgumentTypeError: a field that is no integer (``build_seconds``: no number).
            CompileError: a field out of its range.
        """
        for item in fields(self):
            value = getattr(self, item.name)
            seconds = item.name == "build_seconds"
            if isinstance(value, bool) or not isinstance(value, (int, float) if seconds else int):
                kind = "a number" if seconds else "an int"
                raise ArgumentTypeError(f"Limits.{item.name} must be {kind}, not {value!r}")
            low, high = _BOUNDS.get(item.name, (1, 2**63 - 1))
            if not low <= value <= high:
                raise CompileError(f"Limits.{item.name} must be in {low}..{high}, not {value!r}")


@dataclass(frozen=True)
class CompileOptions:
    """What the core hands to an engine, all defaults resolved.

    Attributes:
        end_tokens: ascending distinct ids; legal exactly when the text is accepting.
        optimization: see :class:`Optimization`.
        parser_backend: see :class:`ParserBackend`.
        background: whether AUTO may fill tables in a worker thread.
        limits: see :class:`Limits`.
    """

    end_tokens: tuple[int, ...] = ()
    optimization: Optimization = Optimization.AUTO
    parser_backend: ParserBackend = ParserBackend.TEMPLATE_DFA
    background: bool = True
    limits: Limits = field(default_factory=Limits)
