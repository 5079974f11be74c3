"""The engine "oracle": exact, slow and short, to compare other engines with.

A state keeps the texts that its commits could mean (a token may be read by its bytes and as an exact token)
and asks a recogniser (:mod:`.chart`, :mod:`.simulator`) about each; a mask asks about every token. Meant for
texts of some 30 events and vocabularies of a few hundred tokens.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..errors import ArtifactError
from ..ir import Module
from ..ir_link import exact_ids
from ..options import CompileOptions
from ..protocols import API_VERSION, EngineCapabilities
from ..state import ACCEPTING, REJECTED, TERMINATED, Commit, ConstraintState
from ..vocab import Vocab
from .chart import KEPT_TEXTS, Chart, Events
from .simulator import Simulator

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..program import ParserProgram


class Recogniser(Protocol):
    """What the oracle needs to know."""

    def recognise(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable) of a text."""
        ...


class OracleGrammar:
    """A grammar or program with a vocabulary; answers are kept per text. Thread-safe by a lock.

    Attributes:
        width: number of mask bits.
    """

    def __init__(self, recogniser: Recogniser, exact: frozenset[int], vocab: Vocab, options: CompileOptions) -> None:
        self.recogniser, self.exact, self.vocab = recogniser, exact, vocab
        self.end_tokens = frozenset(options.end_tokens)
        ids = [*vocab.domain, *exact, *self.end_tokens]
        self.width = 1 + max(ids, default=-1)
        self.words = (self.width + 31) // 32
        self.tokens = sorted({*vocab.domain, *exact} - self.end_tokens)
        self._known: dict[Events, tuple[bool, bool]] = {}
        self._lock = threading.RLock()

    def recognise(self, events: Events) -> tuple[bool, bool]:
        """(accepting, viable) of a text."""
        with self._lock:
            found = self._known.get(events)
            if found is None:
                if len(self._known) > KEPT_TEXTS:
                    self._known.clear()
                found = self._known[events] = self.recogniser.recognise(events)
            return found

    def extend(self, texts: frozenset[Events], token: int) -> frozenset[Events]:
        """The viable texts after one more token, which is not an end token."""
        data = self.vocab.bytes_of(token) if self.vocab.has(token) else b""
        longer = {(*text, *data) for text in texts} if data else set()
        if token in self.exact:
            longer |= {(*text, -1 - token) for text in texts}
        return frozenset(text for text in longer if self.is_viable(text))

    def is_viable(self, events: Events) -> bool:
        """Whether a text is complete or can be continued. What cannot stays so, hence beginnings come first."""
        start = next((k for k in range(len(events), 0, -1) if events[:k] in self._known), 0)
        return all(self.recognise(events[:k])[1] for k in range(start, len(events) + 1))

    def allows(self, texts: frozenset[Events], token: int) -> bool:
        """Whether a token that is no end token may come next."""
        return bool(self.extend(texts, token))

    def start(self, max_rollback: int) -> OracleState:
        """See :meth:`CompiledGrammar.start`."""
        return OracleState._of(self, max_rollback)

    def save(self) -> bytes:
        """Nothing beside the module."""
        return b""

    def report(self) -> Mapping[str, Any]:
        """How many texts were examined."""
        return {"texts": len(self._known)}


class OracleState(ConstraintState):
    """One sequence: the texts it may be, and the same of earlier steps."""

    __slots__ = ("_grammar", "_history", "_max_rollback", "_terminated", "_texts")

    _grammar: OracleGrammar
    _texts: frozenset[Events]
    _terminated: bool
    _history: list[tuple[frozenset[Events], bool]]
    _max_rollback: int

    @classmethod
    def _of(cls, grammar: OracleGrammar, max_rollback: int) -> OracleState:
        self = cls._new()
        self._grammar, self._max_rollback = grammar, max_rollback
        self._texts = frozenset({()} if grammar.recognise(())[1] else ())
        self._terminated, self._history = False, []
        return self

    def _fill(self, words: npt.NDArray[np.uint32]) -> None:
        grammar = self._grammar
        words[: grammar.words] = 0
        if self._terminated:
            return
        allowed = [token for token in grammar.tokens if grammar.allows(self._texts, token)]
        if self._flags() & ACCEPTING:
            allowed += grammar.end_tokens
        for token in allowed:
            words[token >> 5] |= np.uint32(1 << (token & 31))

    def _advance(self, texts: frozenset[Events], terminated: bool = False) -> None:
        if self._max_rollback:
            self._history.append((self._texts, self._terminated))
            del self._history[: -self._max_rollback]
        self._texts, self._terminated = texts, terminated

    def _commit_token(self, token_id: int) -> int:
        grammar = self._grammar
        if self._terminated:
            return Commit.TERMINATED
        if not self._texts:
            return Commit.REJECTED
        if token_id in grammar.end_tokens:
            if self._flags() & ACCEPTING:
                self._advance(self._texts, True)
                return Commit.OK
            self._advance(frozenset())
            return Commit.FAILED_END
        if token_id not in grammar.exact and not grammar.vocab.has(token_id):
            return Commit.UNKNOWN
        self._advance(grammar.extend(self._texts, token_id))
        return Commit.OK if self._texts else Commit.FAILED

    def _commit_bytes(self, data: bytes) -> int:
        if self._terminated:
            return Commit.TERMINATED
        if not self._texts:
            return Commit.REJECTED
        longer = ((*text, *data) for text in self._texts)
        self._advance(frozenset(text for text in longer if self._grammar.is_viable(text)))
        return Commit.OK if self._texts else Commit.FAILED

    def _flags(self) -> int:
        if self._terminated:
            return ACCEPTING | TERMINATED
        if not self._texts:
            return REJECTED
        return ACCEPTING if any(self._grammar.recognise(text)[0] for text in self._texts) else 0

    def _clone(self) -> OracleState:
        other = type(self)._new()
        other._grammar, other._max_rollback = self._grammar, self._max_rollback
        other._texts, other._terminated, other._history = self._texts, self._terminated, self._history.copy()
        return other

    def _rollback(self, n: int) -> bool:
        if n > len(self._history):
            return False
        self._texts, self._terminated = self._history[-n]
        del self._history[-n:]
        return True

    def _key(self) -> Hashable | None:
        return self._texts, self._terminated


class OracleEngine:
    """See :class:`glrmask_core.protocols.Engine`."""

    name = "oracle"
    api_version = API_VERSION
    priority = -100
    capabilities = EngineCapabilities(programs=True)

    def compile(self, module: Module, vocab: Vocab, options: CompileOptions) -> OracleGrammar:
        """See :meth:`Engine.compile`."""
        return OracleGrammar(Chart(module), frozenset(exact_ids(module).tolist()), vocab, options)

    def compile_program(
        self, program: ParserProgram, patterns: Module, ignore: int | None, vocab: Vocab, options: CompileOptions
    ) -> OracleGrammar:
        """See :meth:`Engine.compile_program`."""
        return OracleGrammar(Simulator(program.definition, patterns, ignore), frozenset(), vocab, options)

    def load(self, module: Module, vocab: Vocab, options: CompileOptions, payload: bytes) -> OracleGrammar:
        """See :meth:`Engine.load`."""
        if payload:
            raise ArtifactError(f'engine "oracle" saves no tables, the artifact has {len(payload)} bytes of them')
        return self.compile(module, vocab, options)

    def purge(self, force: bool) -> None:
        """Nothing is shared by constraints."""


def texts_of(state: ConstraintState) -> Sequence[Events]:
    """The texts that an oracle state may be, ascending; for messages of tests."""
    return sorted(state._texts) if isinstance(state, OracleState) else ()
