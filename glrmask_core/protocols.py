"""What a plug-in provides: the ``Frontend`` and ``Engine`` protocols and their capability records.

A front-end turns source text into an IR module; an engine turns a closed module and a vocabulary into
something that answers masks. They meet only here. Versions: :data:`API_VERSION` is what this core
speaks; plug-ins declare the version they were written for, and the core accepts
``API_OLDEST..API_VERSION``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from .options import CompileOptions, Optimization, ParserBackend
from .source import Diagnostic

if TYPE_CHECKING:
    from .constraint import ConstraintState
    from .ir import Module
    from .program import ParserProgram
    from .vocab import Vocab

API_VERSION = 1
API_OLDEST = 1


@dataclass(frozen=True)
class Parsed:
    """What a front-end understood.

    Attributes:
        module: the grammar.
        warnings: findings that do not stop compiling.
        left_out: for lenient front-ends, everything that was not enforced, one line each with its place.
    """

    module: Module
    warnings: tuple[Diagnostic, ...] = ()
    left_out: tuple[str, ...] = ()


@runtime_checkable
class Frontend(Protocol):
    """Reads one grammar format. Stateless and thread-safe."""

    name: str
    """The format, as in ``Grammar.from_source(text, format=name)``."""
    api_version: int
    """The :data:`API_VERSION` it was written for."""

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        """Check the Python types of a source and its options and return the source as text.

        Called by the ``Grammar`` constructor, so it must be cheap and must not parse.

        Raises:
            ArgumentTypeError: ``source`` or an option has the wrong type, or the option is unknown.
        """
        ...

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        """Parse and lower ``text``.

        Raises:
            GrammarSyntaxError, GrammarError: with place, what was expected, what was found.
        """
        ...


@dataclass(frozen=True)
class EngineCapabilities:
    """What an engine can do; the core never calls it outside of this."""

    optimizations: frozenset[Optimization] = frozenset(Optimization)
    parser_backends: frozenset[ParserBackend] = frozenset({ParserBackend.TEMPLATE_DFA})
    programs: bool = False
    """Whether it runs :class:`ParserProgram` definitions."""


@runtime_checkable
class CompiledGrammar(Protocol):
    """One closed grammar compiled by an engine. Immutable from outside, thread-safe."""

    width: int
    """Number of mask bits: 1 + the largest id of the vocabulary, of exact tokens and of end tokens; or 0."""

    def start(self, max_rollback: int) -> ConstraintState:
        """A fresh state: an instance of the engine's subclass of ``ConstraintState``.

        The subclass implements six primitives and may override the optional ones, ``_key``, ``_completion``,
        ``_expected``, ``_limit_error`` and ``_fill_many``, whose defaults do without the engine.
        """
        ...

    def save(self) -> bytes:
        """What the engine wants back at ``load`` beside the module: tables closed at build, deterministic.

        ``b""`` when it rebuilds everything from the module.
        """
        ...

    def report(self) -> Mapping[str, Any]:
        """Figures for people: terminals, states, tables, bytes, seconds by phase."""
        ...


@runtime_checkable
class Engine(Protocol):
    """Compiles closed modules. Stateless from outside and thread-safe."""

    name: str
    api_version: int
    priority: int
    """Among the engines that can do what is asked the highest wins; the oracle has a negative one."""
    capabilities: EngineCapabilities

    def compile(self, module: Module, vocab: Vocab, options: CompileOptions) -> CompiledGrammar:
        """Compile a closed module (``module.slots`` is empty).

        Raises:
            GrammarError: the language is empty, or another fault of the grammar that only now shows.
            LimitExceededError: a field of ``options.limits``.
        """
        ...

    def compile_program(
        self, program: ParserProgram, patterns: Module, ignore: int | None, vocab: Vocab, options: CompileOptions
    ) -> CompiledGrammar:
        """Compile a parser program; ``patterns.root`` is a SEQ or CHOICE-free list, see ``program.py``."""
        ...

    def load(self, module: Module, vocab: Vocab, options: CompileOptions, payload: bytes) -> CompiledGrammar:
        """Rebuild from a saved module and what ``save`` returned. The payload is untrusted.

        Raises:
            ArtifactError: a payload that does not hold together.
        """
        ...

    def purge(self, force: bool) -> None:
        """Give unused memory back to the system; with ``force`` also drop caches shared by constraints."""
        ...


@dataclass(frozen=True)
class CompileReport:
    """``constraint.report``.

    Attributes:
        engine: name of the engine.
        left_out: what a lenient front-end did not enforce.
        warnings: what the front-end warned of.
        figures: the engine's :meth:`CompiledGrammar.report` and the core's seconds by phase.
    """

    engine: str
    left_out: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def option_names(options: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Raise ``ArgumentTypeError`` for an option that ``what`` does not have."""
    from .errors import ArgumentTypeError

    for name in options:
        if name not in known:
            expected = ", ".join(sorted(known)) or "none"
            raise ArgumentTypeError(f"{what} has no option {name!r}; its options: {expected}")
