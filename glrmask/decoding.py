"""The decoding loop of ``glrmask generate``: draw tokens under the mask until the end token.

It always ends: when the token budget runs out, it goes back to a position from which an ending still fits, and
writes that ending. Endings are found by preferring what closes (quotes and brackets before letters, openings
last); where that leads nowhere, the state's own ``shortest_completion`` has the last word.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glrmask_core.errors import GlrmaskError, LimitExceededError

if TYPE_CHECKING:
    from glrmask_core.constraint import Constraint, ConstraintState

Probabilities = Callable[[Sequence[int]], npt.NDArray[np.float64]]


class DecodingError(GlrmaskError, ValueError):
    """No output within the token budget, or none that this vocabulary can spell."""


@dataclass
class Output:
    """One generated text.

    Attributes:
        text: its bytes, end token apart.
        tokens: the ids, end token included.
        completed: how many of the tokens belong to an ending that the model did not draw.
        mask_seconds: time of each ``fill_mask``.
        commit_seconds: time of each ``commit_token``.
        seconds: the whole loop, model included.
    """

    text: bytes = b""
    tokens: list[int] = field(default_factory=list)
    completed: int = 0
    mask_seconds: list[float] = field(default_factory=list)
    commit_seconds: list[float] = field(default_factory=list)
    seconds: float = 0.0


class Spelling:
    """Writes given bytes with the tokens of a vocabulary: at each point the longest one that the mask allows."""

    def __init__(self, tokens: Mapping[int, bytes]) -> None:
        self._ids: dict[bytes, int] = {}
        for i, data in tokens.items():
            self._ids.setdefault(data, i)
        self._longest = max(map(len, self._ids), default=0)

    def spell(self, state: ConstraintState, data: bytes) -> list[int] | None:
        """Token ids for ``data`` from ``state`` on (left unchanged); None when the vocabulary has none."""
        state = state.clone()
        ids: list[int] = []
        at = 0
        while at < len(data):
            mask = state.mask()
            for size in range(min(self._longest, len(data) - at), 0, -1):
                found = self._ids.get(data[at : at + size])
                if found is not None and mask[found]:
                    break
            else:
                return None
            state.commit_token(found)
            ids.append(found)
            at += size
        return ids


def closing_order(tokens: Mapping[int, bytes], size: int) -> npt.NDArray[np.int64]:
    """int64[size]: the place of each token when what brings a text to its end comes first.

    By the worst byte in it, then longer tokens first: they finish sooner.
    """
    cost = [3] * 128 + [4] * 128
    word = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for cheap, members in enumerate((b"\"'", b"}])", word)):  # quotes first: inside of them brackets close nothing
        for byte in members:
            cost[byte] = cheap
    for dear, members in enumerate((b",;", b"{[(", b"\\", b" \t\n\r"), 5):
        for byte in members:
            cost[byte] = dear
    keys = sorted((max(cost[b] for b in data), -len(data), i) for i, data in tokens.items() if data)
    order = np.full(size, len(keys), np.int64)
    order[[i for _, _, i in keys]] = np.arange(len(keys))
    return order


class Decoder:
    """Draws outputs of a constraint.

    Args:
        constraint: compiled with ``end_token`` as its end token.
        tokens: bytes per id.
        end_token: drawn like any other token once the text is complete.
        probabilities: next-token probabilities after some ids, or None to draw evenly.
        temperature: 1 draws as the model says, smaller values prefer what is likely.
    """

    def __init__(
        self,
        constraint: Constraint,
        tokens: Mapping[int, bytes],
        end_token: int,
        probabilities: Probabilities | None = None,
        temperature: float = 0.8,
    ) -> None:
        self._constraint = constraint
        self._tokens = tokens
        self._end = end_token
        self._probabilities = probabilities
        self._power = 1.0 / max(temperature, 0.01)
        self._words = np.zeros(constraint.mask_len(), np.uint32)
        self._order: npt.NDArray[np.int64] | None = None

    def decode(self, rng: np.random.Generator, max_tokens: int, on_token: Callable[[int], None]) -> Output:
        """One output of at most ``max_tokens`` tokens, end token included.

        Args:
            rng: source of randomness.
            max_tokens: at least 1.
            on_token: called with the number of tokens so far.

        Raises:
            DecodingError: even the shortest output is longer, or the vocabulary cannot spell any.
        """
        started = time.perf_counter()
        state = self._constraint.start()
        output = Output()
        passed = [state.clone()]
        while len(output.tokens) < max_tokens:
            token = self._draw(state, output, rng)
            if token is None:
                break
            self._commit(state, token, output)
            on_token(len(output.tokens))
            if token == self._end:
                break
            passed.append(state.clone())
        if not output.tokens or output.tokens[-1] != self._end:
            self._complete(passed, output, max_tokens)
        output.text = b"".join(self._tokens.get(i, b"") for i in output.tokens if i != self._end)
        output.seconds = time.perf_counter() - started
        return output

    def _draw(self, state: ConstraintState, output: Output, rng: np.random.Generator) -> int | None:
        """A token that the mask allows; None when it allows none."""
        started = time.perf_counter()
        state.fill_mask(self._words)
        output.mask_seconds.append(time.perf_counter() - started)
        allowed = np.flatnonzero(np.unpackbits(self._words.view(np.uint8), bitorder="little"))
        if not len(allowed):
            return None
        if self._probabilities is None:
            return int(allowed[int(rng.random() * len(allowed))])
        weights = self._probabilities(output.tokens)[allowed] ** self._power
        sums = np.cumsum(weights)
        at = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        return int(allowed[min(at, len(allowed) - 1)])

    def _commit(self, state: ConstraintState, token: int, output: Output) -> None:
        started = time.perf_counter()
        state.commit_token(token)
        output.commit_seconds.append(time.perf_counter() - started)
        output.tokens.append(token)

    def _complete(self, passed: list[ConstraintState], output: Output, max_tokens: int) -> None:
        """Replace the tail of ``output`` by an ending that fits; ``passed[i]`` is the state after i tokens."""
        at, step = len(passed) - 1, 1
        while True:
            ending = self._ending(passed[at], max_tokens - at)
            if ending is None and at == 0:
                ending = self._shortest(passed[0], max_tokens)
            if ending is not None:
                break
            at, step = max(at - step, 0), 2 * step
        del output.tokens[at:]
        state = passed[at].clone()
        for token in ending:
            self._commit(state, token, output)
        output.completed = len(ending)

    def _ending(self, state: ConstraintState, most: int) -> list[int] | None:
        """At most ``most`` tokens, end token included, that finish the text; None when the simple way finds none."""
        if self._order is None:
            self._order = closing_order(self._tokens, 32 * len(self._words))
        state = state.clone()
        ids: list[int] = []
        while len(ids) < most:
            state.fill_mask(self._words)
            allowed = np.flatnonzero(np.unpackbits(self._words.view(np.uint8), bitorder="little"))
            if not len(allowed):
                return None
            done = self._words[self._end >> 5] >> (self._end & 31) & 1
            ids.append(self._end if done else int(allowed[np.argmin(self._order[allowed])]))
            if done:
                return ids
            state.commit_token(ids[-1])
        return None

    def _shortest(self, state: ConstraintState, most: int) -> list[int]:
        """The shortest text from ``state`` in at most ``most`` tokens.

        Raises:
            DecodingError: there is none, or the search for it takes too long.
        """
        try:
            ids = Spelling(self._tokens).spell(state, state.shortest_completion())
        except LimitExceededError:
            raise DecodingError(f"found no output of at most {most} tokens; allow more tokens") from None
        if ids is None or len(ids) >= most:
            need = "this vocabulary cannot spell it" if ids is None else f"it takes {len(ids) + 1} tokens"
            raise DecodingError(f"no output of at most {most} tokens: {need}; allow more tokens or loosen the grammar")
        return [*ids, self._end]
