"""Typed options: what to optimise for, which parser representation, and limits."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


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
        build_seconds: wall-clock time of one compile.
        memory_bytes: memory of one compiled constraint, tables filled later included.
        states: automaton states of the syntax network after normalisation.
        lexer_states: distinct states (regular-expression derivatives) of all terminals together.
        expansion: states that expanding one counted repeat may create.
        static_pairs: (view, state) pairs that FAST_RUNTIME may close over.
        static_work: trie nodes that FAST_RUNTIME may walk.
        static_bytes: bytes of tables that FAST_RUNTIME may make.
        token_bytes: longest token of a vocabulary.
        mask_cache_bytes: final masks kept per constraint (evicted, never an error).
    """

    build_seconds: float = 60.0
    memory_bytes: int = 2 << 30
    states: int = 4_000_000
    lexer_states: int = 4_000_000
    expansion: int = 100_000
    static_pairs: int = 1 << 20
    static_work: int = 2_000_000_000
    static_bytes: int = 256 << 20
    token_bytes: int = 4096
    mask_cache_bytes: int = 32 << 20


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
