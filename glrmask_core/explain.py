"""Why a token or text is refused: ``ConstraintState.explain``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .checks import as_text_bytes, as_u32
from .errors import ArgumentTypeError
from .ir import TERMINAL
from .ir_label import label
from .search import next_bytes
from .state import ACCEPTING, REJECTED, TERMINATED, Commit, raise_commit

if TYPE_CHECKING:
    from .source import Place
    from .state import ConstraintState


@dataclass(frozen=True)
class Expected:
    """A terminal (or set of exact tokens) that was possible at the place of refusal.

    Attributes:
        name: of the terminal; one without a name is told by what it matches, shortened.
        place: where the grammar has it: a span, a JSON pointer, or None when unknown.
    """

    name: str
    place: Place | None = None

    def __str__(self) -> str:
        where = "" if self.place is None else f" ({self.place})"
        return f"{self.name}{where}"


@dataclass(frozen=True)
class Explanation:
    """Whether something may come next and, if not, where and why it is refused.

    Attributes:
        accepted: whether it may come.
        given: the token id or the bytes asked about.
        data: the bytes it stands for, ``b""`` for an exact-only or unknown token.
        offset: how many of ``data`` are fine; equal to ``len(data)`` when accepted.
        reason: one sentence.
        next_bytes: bytes that were possible at the offset.
        expected: terminals in progress or possible there; empty when the engine cannot tell.
    """

    accepted: bool
    given: int | bytes
    data: bytes
    offset: int
    reason: str
    next_bytes: frozenset[int] = frozenset()
    expected: tuple[Expected, ...] = ()

    def __str__(self) -> str:
        shown = f"token {self.given} ({self.data!r})" if isinstance(self.given, int) else f"{self.data!r}"
        lines = [f"{shown}: {self.reason}"]
        if not self.accepted and self.next_bytes:
            lines.append(f"  possible there: {byte_ranges(self.next_bytes)}")
        lines += [f"  expected: {one}" for one in self.expected]
        return "\n".join(lines)


def explain(state: ConstraintState, what: Any) -> Explanation:
    """See :meth:`ConstraintState.explain`."""
    if isinstance(what, (bytes, bytearray, memoryview)):
        data = as_text_bytes(what)
        return _explain_bytes(state, data, data)
    if isinstance(what, str):
        raise ArgumentTypeError("explain takes a token id or bytes, not str; encode the text first")
    token = as_u32(what, "token id")
    vocab = state._constraint.vocab
    data = vocab.bytes_of(token) if vocab.has(token) else b""
    code = state.clone()._commit_token(token)
    if code in (Commit.BUSY, Commit.LIMIT):
        raise_commit(state, code, token)
    if code == Commit.OK:
        return Explanation(True, token, data, len(data), "it may come next")
    if code == Commit.UNKNOWN:
        return Explanation(False, token, data, 0, "it is in neither vocabulary nor grammar and is no end token")
    if code == Commit.FAILED_END:
        return _refused(state, token, data, 0, "it is an end token, and the output is not complete")
    if code in (Commit.TERMINATED, Commit.REJECTED) or data:
        return _explain_bytes(state, token, data)
    return _refused(state, token, data, 0, "it has no bytes, and no slot for it is possible here")


def _explain_bytes(state: ConstraintState, given: int | bytes, data: bytes) -> Explanation:
    flags = state._flags()
    if flags & TERMINATED:
        return Explanation(False, given, data, 0, "nothing may come after an end token")
    if flags & REJECTED:
        return Explanation(False, given, data, 0, "the state was rejected by an earlier commit")
    at = state.clone()
    for offset in range(len(data)):
        before = at.clone()
        code = at._commit_bytes(data[offset : offset + 1])
        if code in (Commit.BUSY, Commit.LIMIT):
            raise_commit(state, code, data)
        if code:
            what = f"byte {data[offset]:#04x} ({data[offset : offset + 1]!r}) cannot come at offset {offset}"
            return _refused(before, given, data, offset, what)
    return Explanation(True, given, data, len(data), "it may come next")


def _refused(before: ConstraintState, given: int | bytes, data: bytes, offset: int, reason: str) -> Explanation:
    possible = next_bytes(before)
    if not possible:
        complete = before._flags() & ACCEPTING
        reason += "; the output is complete and takes no more bytes" if complete else "; no byte is possible"
    return Explanation(False, given, data, offset, reason, possible, _expected(before))


def _expected(state: ConstraintState) -> tuple[Expected, ...]:
    """The terminals an engine names, as people know them."""
    module = state._constraint.module
    found: dict[Expected, None] = {}
    for node in state._expected() or ():
        op, lexical, _, name = module.row(node)
        if op == TERMINAL:
            text = module.names[name] if name >= 0 else label(module, lexical)
        else:
            text = f"exact token {label(module, node)}"
        found[Expected(text, module.places.get(node))] = None
    return tuple(found)


def byte_ranges(members: frozenset[int]) -> str:
    """A set of bytes for people: ``"a"-"z" "{" 0x80-0xff``."""
    ordered, parts = sorted(members), []
    start = 0
    for at in range(1, len(ordered) + 1):
        if at == len(ordered) or ordered[at] != ordered[at - 1] + 1:
            first, last = ordered[start], ordered[at - 1]
            parts.append(_byte(first) if first == last else f"{_byte(first)}-{_byte(last)}")
            start = at
    return " ".join(parts)


def _byte(b: int) -> str:
    return f"'{chr(b)}'" if 0x20 < b < 0x7F else f"{b:#04x}"
