"""The oracle engine: keeps all events of a sequence and asks a plain recogniser, token by token.

It computes everything anew from the definition of the language, shares nothing with other engines, and is
fit for short texts and small vocabularies only.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import ArtifactError, CompileError, GrammarError
from ...ir_link import exact_ids
from ...protocols import API_VERSION, EngineCapabilities
from ...state import ACCEPTING, REJECTED, TERMINATED, Commit, ConstraintState
from .chart import Chart, Events
from .stacks import StackRunner

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ...ir import Module
    from ...options import CompileOptions
    from ...program import ParserProgram
    from ...vocab import Vocab

FIRST_CAP = 16
MAX_MEMORY = 200_000  # answers kept
MAX_READINGS = 4096
Readings = frozenset[Events]


class Recogniser(Protocol):
    """What says yes or no to one sequence of events."""

    def answer(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable)."""


class OracleEngine:
    """The engine named ``"oracle"``."""

    name = "oracle"
    api_version = API_VERSION
    priority = -100
    capabilities = EngineCapabilities(programs=True)

    def compile(self, module: Module, vocab: Vocab, options: CompileOptions) -> OracleGrammar:
        """See :meth:`glrmask_core.protocols.Engine.compile`."""
        if module.slots:
            raise GrammarError(f"the oracle takes closed modules; open: {', '.join(module.slots)}")
        exact = frozenset(int(i) for i in exact_ids(module))
        made = OracleGrammar(lambda cap: Chart(module, cap), exact, vocab, options)
        if not made.viable(()):
            raise GrammarError("the grammar matches nothing: its start rule never comes to an end")
        return made

    def compile_program(
        self, program: ParserProgram, patterns: Module, ignore: int | None, vocab: Vocab, options: CompileOptions
    ) -> OracleGrammar:
        """See :meth:`glrmask_core.protocols.Engine.compile_program`."""
        definition = program.definition
        return OracleGrammar(lambda cap: StackRunner(definition, patterns, ignore, cap), frozenset(), vocab, options)

    def load(self, module: Module, vocab: Vocab, options: CompileOptions, payload: bytes) -> OracleGrammar:
        """See :meth:`glrmask_core.protocols.Engine.load`; the oracle saves nothing."""
        if payload:
            raise ArtifactError(f"the oracle saves no tables, but {len(payload)} bytes are given")
        return self.compile(module, vocab, options)

    def purge(self, force: bool) -> None:
        """Nothing is shared between constraints."""


class OracleGrammar:
    """A grammar or program of the oracle.

    Args:
        make: a recogniser for sequences shorter than its argument minus 2.
        exact: ids that are exact tokens of the grammar.
        vocab, options: as compiled.
    """

    def __init__(
        self, make: Callable[[int], Recogniser], exact: frozenset[int], vocab: Vocab, options: CompileOptions
    ) -> None:
        ids, offsets, blob = vocab.entries()
        self.texts = {int(i): bytes(blob[offsets[k] : offsets[k + 1]]) for k, i in enumerate(ids)}
        self.exact, self.ends = exact, frozenset(options.end_tokens)
        self.width = 1 + max((vocab.max_id, *exact, *self.ends))
        self._make = make
        self._recognisers: dict[int, Recogniser] = {}
        self._answers: dict[Events, tuple[bool, bool]] = {}
        self._masks: dict[Readings, list[int]] = {}

    def start(self, max_rollback: int) -> OracleState:
        """See :meth:`glrmask_core.protocols.CompiledGrammar.start`."""
        state = OracleState._new()
        state._grammar, state._limit = self, max_rollback
        state._now, state._past = (frozenset({()}), False), ()
        return state

    def save(self) -> bytes:
        """Nothing."""
        return b""

    def report(self) -> Mapping[str, Any]:
        """How many answers are kept."""
        return {"answers": len(self._answers)}

    # -- answers ------------------------------------------------------------------------------

    def answer(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable) of one sequence of events."""
        found = self._answers.get(events)
        if found is None:
            cap = FIRST_CAP
            while cap < len(events) + 2:
                cap *= 4
            if cap not in self._recognisers:
                self._recognisers[cap] = self._make(cap)
            if len(self._answers) > MAX_MEMORY:
                self._answers.clear()
            found = self._answers[events] = self._recognisers[cap].answer(events)
        return found

    def viable(self, events: Events) -> bool:
        """Whether some continuation, maybe none, is not excluded."""
        return self.answer(events)[1]

    def after_bytes(self, readings: Readings, data: bytes) -> Readings:
        """The readings that survive these bytes; a beginning that is lost stays lost."""
        for byte in data:
            readings = frozenset(r for r in ((*r, byte) for r in readings) if self.viable(r))
        return readings

    def after_token(self, readings: Readings, token: int) -> Readings:
        """The readings that survive a token: as its bytes, and as an exact token if the grammar has it."""
        text = self.texts.get(token, b"")
        out = self.after_bytes(readings, text) if text else frozenset()
        if token in self.exact:
            out |= frozenset(r for r in ((*r, -1 - token) for r in readings) if self.viable(r))
        if len(out) > MAX_READINGS:
            raise CompileError(f"the oracle keeps at most {MAX_READINGS} readings of one sequence")
        return out

    def mask(self, readings: Readings) -> list[int]:
        """The tokens that leave a reading, and the end tokens if a reading is complete; ascending."""
        found = self._masks.get(readings)
        if found is None:
            found = [t for t in self.texts.keys() | self.exact if t not in self.ends and self.after_token(readings, t)]
            if self.accepting(readings):
                found += self.ends
            if len(self._masks) > 1000:
                self._masks.clear()
            self._masks[readings] = found = sorted(found)
        return found

    def accepting(self, readings: Readings) -> bool:
        """Whether a reading is complete."""
        return any(self.answer(r)[0] for r in readings)


class OracleState(ConstraintState):
    """All readings of what was committed (none: rejected), whether it is terminated, and the same of the past."""

    __slots__ = ("_grammar", "_limit", "_now", "_past")

    _grammar: OracleGrammar
    _limit: int
    _now: tuple[Readings, bool]
    _past: tuple[tuple[Readings, bool], ...]

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        readings, terminated = self._now
        words[: (self._grammar.width + 31) // 32] = 0
        for token in () if terminated else self._grammar.mask(readings):
            words[token >> 5] |= words.dtype.type(1 << (token & 31))

    def _commit_token(self, token_id: int) -> int:
        readings, _ = self._now
        grammar = self._grammar
        code = self._closed()
        if code:
            return code
        if token_id in grammar.ends:
            if grammar.accepting(readings):
                return self._set(readings, True)
            self._set(frozenset(), False)
            return Commit.FAILED_END
        if token_id not in grammar.texts and token_id not in grammar.exact:
            return Commit.UNKNOWN
        return self._set(grammar.after_token(readings, token_id), False)

    def _commit_bytes(self, data: bytes) -> int:
        return self._closed() or self._set(self._grammar.after_bytes(self._now[0], data), False)

    def _closed(self) -> int:
        readings, terminated = self._now
        return Commit.TERMINATED if terminated else Commit.OK if readings else Commit.REJECTED

    def _set(self, readings: Readings, terminated: bool) -> int:
        past = (*self._past, self._now)
        self._past = past[max(len(past) - self._limit, 0) :]
        self._now = readings, terminated
        return Commit.OK if readings else Commit.FAILED

    def _flags(self) -> int:
        readings, terminated = self._now
        accepting = self._grammar.accepting(readings)
        return ACCEPTING * accepting | REJECTED * (not readings) | TERMINATED * terminated

    def _clone(self) -> OracleState:
        other = OracleState._new()
        other._grammar, other._limit, other._now, other._past = self._grammar, self._limit, self._now, self._past
        return other

    def _rollback(self, n: int) -> bool:
        if n > len(self._past):
            return False
        self._now = self._past[-n]
        self._past = self._past[:-n]
        return True

    def _key(self) -> Hashable:
        return self._now
