"""``Vocab``: the exact mapping between token ids and bytes, and exact tokens taken from it.

Layout   ids ascending, one byte pool, offsets into it; an empty entry is an *exact-only* token.
Identity a digest of the full mapping, computed on first need and kept.
Threads  immutable once built; what is derived from it is made under a lock or is harmless to make twice.
Cost     building: O(tokens log tokens + bytes), about 40 ms for 128,000 tokens.
"""

from __future__ import annotations

import hashlib
import itertools
import operator
import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .checks import MAX_ID, Closed, as_list, as_u32
from .errors import ArgumentTypeError, IdRangeError, TokenBytesError, VocabError

if TYPE_CHECKING:
    import numpy.typing as npt

_IDENTITY_VERSION = b"glrmask-vocab-1"


class Vocab(Closed):
    """Token ids and their bytes. Immutable, compared and hashed by the full mapping.

    Attributes:
        llama_cpp_end_token_ids: end-of-generation ids found by :meth:`from_llama_cpp`, ascending; else ``[]``.
        engine_cache: for engines: what they build once per vocabulary, under their own name.
        engine_lock: guards ``engine_cache``.
    """

    __slots__ = (
        "__weakref__",
        "_blob",
        "_end_ids",
        "_first",
        "_identity",
        "_ids",
        "_index",
        "_offsets",
        "_spelling",
        "engine_cache",
        "engine_lock",
    )
    _made_by = "Vocab.from_dict(), Vocab.from_id_to_bytes() or another Vocab.from_...() constructor"

    _ids: npt.NDArray[np.uint32]
    _offsets: npt.NDArray[np.int64]
    _blob: bytes
    _end_ids: tuple[int, ...]
    _identity: bytes | None
    _index: dict[int, int] | None
    _first: npt.NDArray[np.int16] | None
    _spelling: Spelling | None
    engine_cache: dict[str, object]
    engine_lock: threading.Lock

    # -- constructors -------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, token_to_id: Mapping[bytes, int]) -> Vocab:
        """From token bytes to ids.

        Args:
            token_to_id: any mapping. ``b""`` makes its id exact-only.

        Raises:
            ArgumentTypeError: not a mapping, or an id that is no integer.
            TokenBytesError: a key that is not ``bytes`` (``TypeError`` and ``ValueError``).
            IdRangeError: an id outside 0..2^32-1 (``OverflowError``).
            VocabError: one id for two byte strings.
        """
        if not isinstance(token_to_id, Mapping):
            raise ArgumentTypeError(f"from_dict needs a mapping from bytes to int, not {type(token_to_id).__name__}")
        items = list(token_to_id.items())  # at once, so that they belong together
        return cls._build([id for _, id in items], [text for text, _ in items])

    @classmethod
    def from_id_to_bytes(cls, id_to_bytes: Mapping[int, bytes]) -> Vocab:
        """From ids to token bytes. Several ids may have the same bytes; ``b""`` makes an id exact-only.

        Raises:
            As :meth:`from_dict`.
        """
        if not isinstance(id_to_bytes, Mapping):
            raise ArgumentTypeError(
                f"from_id_to_bytes needs a mapping from int to bytes, not {type(id_to_bytes).__name__}"
            )
        items = list(id_to_bytes.items())
        return cls._build([id for id, _ in items], [text for _, text in items])

    @classmethod
    def from_llama_cpp(cls, llm: Any) -> Vocab:
        """The vocabulary of a ``llama_cpp.Llama``; see :func:`glrmask_core.vocab_sources.from_llama_cpp`."""
        from .vocab_sources import from_llama_cpp

        return from_llama_cpp(llm)

    @classmethod
    def from_tokenizers(cls, tokenizer: Any) -> Vocab:
        """The vocabulary of a ``tokenizers.Tokenizer``; see :func:`glrmask_core.vocab_sources.from_tokenizers`."""
        from .vocab_sources import from_tokenizers

        return from_tokenizers(tokenizer)

    @classmethod
    def from_transformers(cls, tokenizer: Any) -> Vocab:
        """The vocabulary of a ``transformers`` tokenizer; see :func:`glrmask_core.vocab_sources.from_transformers`."""
        from .vocab_sources import from_transformers

        return from_transformers(tokenizer)

    @classmethod
    def from_tiktoken(cls, encoding: Any) -> Vocab:
        """The vocabulary of a ``tiktoken.Encoding``; see :func:`glrmask_core.vocab_sources.from_tiktoken`."""
        from .vocab_sources import from_tiktoken

        return from_tiktoken(encoding)

    @classmethod
    def from_sentencepiece(cls, processor: Any) -> Vocab:
        """Of a ``sentencepiece.SentencePieceProcessor``; see :func:`glrmask_core.vocab_sources.from_sentencepiece`."""
        from .vocab_sources import from_sentencepiece

        return from_sentencepiece(processor)

    @classmethod
    def from_mistral(cls, tokenizer: Any) -> Vocab:
        """The vocabulary of a ``mistral_common`` tokenizer; see :func:`glrmask_core.vocab_sources.from_mistral`."""
        from .vocab_sources import from_mistral

        return from_mistral(tokenizer)

    # -- what it holds ------------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of ids, exact-only ones included."""
        return len(self._ids)

    def token(self, id: int) -> ExactToken:
        """One exact token, to bind to an ``extern token`` slot.

        Raises:
            VocabError: the id is unknown.
        """
        return ExactToken._make(self, self._known(id))

    def tokens(self, ids: Sequence[int]) -> ExactTokens:
        """A set of exact tokens, to bind to an ``extern token`` slot.

        Raises:
            ArgumentTypeError: not a sequence.
            VocabError: empty, a duplicate, or an unknown id.
        """
        if not isinstance(ids, (Sequence, np.ndarray)) or isinstance(ids, (str, bytes, bytearray, memoryview)):
            raise ArgumentTypeError(f"tokens() needs a sequence of ids, not {type(ids).__name__}")
        known = sorted(self._known(i) for i in as_list(ids, "tokens(): ids", "token ids"))
        if not known:
            raise VocabError("tokens() needs at least one id")
        for a, b in itertools.pairwise(known):
            if a == b:
                raise VocabError(f"tokens(): id {a} is given twice")
        return ExactTokens._make(self, tuple(known))

    @property
    def llama_cpp_end_token_ids(self) -> list[int]:
        """End tokens that ``from_llama_cpp`` found, ascending; empty for other constructors."""
        return list(self._end_ids)

    @property
    def identity(self) -> bytes:
        """32 bytes that stand for the full mapping."""
        if self._identity is None:
            h = hashlib.blake2b(_IDENTITY_VERSION, digest_size=32)
            h.update(len(self._ids).to_bytes(8, "little"))
            h.update(self._ids.astype("<u4").tobytes())
            h.update(np.diff(self._offsets).astype("<i8").tobytes())
            h.update(self._blob)
            self._identity = h.digest()
        return self._identity

    @property
    def max_id(self) -> int:
        """The largest id, -1 when there is none."""
        return int(self._ids[-1]) if len(self._ids) else -1

    @property
    def domain(self) -> Domain:
        """The ids, as something that answers ``in`` and iterates in ascending order."""
        return Domain(self)

    def has(self, id: int) -> bool:
        """Whether the id is known (with bytes or exact-only); False for any other integer.

        Raises:
            ArgumentTypeError: no integer.
        """
        return self._position(_as_int(id)) >= 0

    def bytes_of(self, id: int) -> bytes:
        """The bytes of an id, ``b""`` for an exact-only one.

        Raises:
            ArgumentTypeError: no integer.
            VocabError: the id is unknown.
        """
        at = self._position(_as_int(id))
        if at < 0:
            raise VocabError(f"token id {id} is not in the vocabulary")
        return self._blob[int(self._offsets[at]) : int(self._offsets[at + 1])]

    def entries(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64], bytes]:
        """The mapping as (ids uint32[n] ascending, offsets int64[n + 1], blob); read-only arrays, no copy.

        Entry ``i`` is ``blob[offsets[i]:offsets[i + 1]]``; an empty one is exact-only.
        """
        return self._ids, self._offsets, self._blob

    @property
    def first_bytes(self) -> npt.NDArray[np.int16]:
        """First byte of the token of each id, int16[max_id + 1]; -1 where there are no bytes."""
        if self._first is None:
            first = np.full(self.max_id + 1, -1, np.int16)
            with_bytes = np.diff(self._offsets) > 0
            starts = self._offsets[:-1][with_bytes]
            first[self._ids[with_bytes]] = np.frombuffer(self._blob, np.uint8)[starts]
            self._first = _fixed(first)
        return self._first

    @property
    def spelling(self) -> Spelling:
        """Tokens in byte order, to look up texts; made on first use."""
        if self._spelling is None:
            self._spelling = Spelling(self)
        return self._spelling

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocab):
            return NotImplemented
        return self is other or (len(self) == len(other) and self.identity == other.identity)

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        return f"<Vocab of {len(self)} tokens, max id {self.max_id}>"

    def __copy__(self) -> Vocab:
        return self

    def __deepcopy__(self, memo: object) -> Vocab:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._ids.tobytes(), self._offsets.tobytes(), self._blob, self._end_ids)

    # -- inside -------------------------------------------------------------------------------

    @classmethod
    def _build(cls, ids: list[Any], texts: list[Any], end_ids: tuple[int, ...] = ()) -> Vocab:
        texts = _check_texts(ids, texts)
        numbers = _check_ids(ids)
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        same = np.flatnonzero(ordered[1:] == ordered[:-1])
        if len(same):
            at = int(same[0])
            first, second = texts[order[at]], texts[order[at + 1]]
            raise VocabError(f"token id {int(ordered[at])} stands for both {first!r} and {second!r}")
        parts = [texts[i] for i in order.tolist()]
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=offsets[1:])
        return cls._assemble(ordered.astype(np.uint32), offsets, b"".join(parts), end_ids)

    @classmethod
    def _assemble(
        cls, ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], blob: bytes, end_ids: tuple[int, ...]
    ) -> Vocab:
        """From arrays that are known to be right."""
        self = cls._new()
        self._ids, self._offsets, self._blob, self._end_ids = _fixed(ids), _fixed(offsets), blob, end_ids
        self._identity = self._index = self._first = self._spelling = None
        self.engine_cache = {}
        self.engine_lock = threading.Lock()
        return self

    def _position(self, id: int) -> int:
        """Index of an id among the entries, -1 when unknown."""
        count = len(self._ids)
        if self.max_id == count - 1:  # dense
            return id if 0 <= id < count else -1
        if self._index is None:
            self._index = {int(x): at for at, x in enumerate(self._ids.tolist())}
        return self._index.get(id, -1)

    def _known(self, id: Any) -> int:
        number = as_u32(id, "token id")
        if not self.has(number):
            raise VocabError(f"token id {number} is not in the vocabulary")
        return number


class Domain:
    """The ids of a vocabulary; a light view."""

    __slots__ = ("_vocab",)

    def __init__(self, vocab: Vocab) -> None:
        self._vocab = vocab

    def __contains__(self, id: object) -> bool:
        return isinstance(id, (int, np.integer)) and self._vocab.has(int(id))

    def __len__(self) -> int:
        return len(self._vocab)

    def __iter__(self) -> Any:
        return iter(self._vocab.entries()[0].tolist())


class Spelling:
    """The tokens of a vocabulary that have bytes, sorted by (bytes, id).

    Attributes:
        texts: token bytes in order.
        ids: their ids, same order.
        longest: length of the longest token.
    """

    __slots__ = ("_lowest", "ids", "longest", "texts")

    def __init__(self, vocab: Vocab) -> None:
        ids, offsets, blob = vocab.entries()
        bounds = offsets.tolist()
        pairs = sorted(
            (blob[start:end], i) for i, start, end in zip(ids.tolist(), bounds, bounds[1:], strict=False) if end > start
        )
        self.texts = [text for text, _ in pairs]
        self.ids = [i for _, i in pairs]
        self.longest = max(map(len, self.texts), default=0)
        self._lowest: dict[bytes, int] = {}
        for at, text in enumerate(self.texts):
            self._lowest.setdefault(text, at)

    def ids_of(self, text: bytes) -> list[int]:
        """Ids with exactly these bytes, ascending."""
        at = self._lowest.get(text)
        if at is None:
            return []
        end = at
        while end < len(self.texts) and self.texts[end] == text:
            end += 1
        return self.ids[at:end]

    def extends(self, text: bytes) -> bool:
        """Whether some token starts with ``text`` and is longer."""
        at = bisect_left(self.texts, text + b"\0")
        return at < len(self.texts) and self.texts[at].startswith(text)


_ExactSelf = TypeVar("_ExactSelf", bound="_Exact")


class _Exact(Closed):
    """Common part of exact tokens: equality by vocabulary identity and ids."""

    __slots__ = ("_ids", "_vocab")
    _ids: tuple[int, ...]
    _vocab: Vocab

    @property
    def vocab(self) -> Vocab:
        """The vocabulary it was taken from."""
        return self._vocab

    @property
    def identity(self) -> bytes:
        """Identity of that vocabulary."""
        return self._vocab.identity

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._ids == other._ids and self._vocab == other._vocab

    def __hash__(self) -> int:
        return hash((self._ids, self._vocab))

    def __copy__(self: _ExactSelf) -> _ExactSelf:
        return self

    def __deepcopy__(self: _ExactSelf, memo: object) -> _ExactSelf:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        raise ArgumentTypeError(f"{type(self).__name__} cannot be pickled; pickle the vocabulary and the ids")


class ExactToken(_Exact):
    """One model token matched by its id, never by bytes. Made by :meth:`Vocab.token`."""

    __slots__ = ()
    _made_by = "Vocab.token()"

    @classmethod
    def _make(cls, vocab: Vocab, id: int) -> ExactToken:
        self = cls._new()
        self._vocab, self._ids = vocab, (id,)
        return self

    @property
    def id(self) -> int:
        """The token id."""
        return self._ids[0]

    def __repr__(self) -> str:
        return f"<ExactToken {self.id}>"


class ExactTokens(_Exact):
    """A set of model tokens matched by id. Made by :meth:`Vocab.tokens`."""

    __slots__ = ()
    _made_by = "Vocab.tokens()"

    @classmethod
    def _make(cls, vocab: Vocab, ids: tuple[int, ...]) -> ExactTokens:
        self = cls._new()
        self._vocab, self._ids = vocab, ids
        return self

    @property
    def ids(self) -> list[int]:
        """The token ids, ascending."""
        return list(self._ids)

    def __repr__(self) -> str:
        return f"<ExactTokens {list(self._ids)}>"


def _as_int(id: Any) -> int:
    try:
        return operator.index(id)
    except TypeError:
        raise ArgumentTypeError(f"token id must be an integer, not {type(id).__name__}") from None


def _check_texts(ids: list[Any], texts: list[Any]) -> list[bytes]:
    if set(map(type, texts)) <= {bytes}:
        return texts
    for id, text in zip(ids, texts, strict=True):
        if not isinstance(text, bytes):
            raise TokenBytesError(f"the bytes of token {id!r} must be bytes, not {type(text).__name__}")
    return [memoryview(text).tobytes() for text in texts]  # a subclass may tell any length


def _check_ids(ids: list[Any]) -> npt.NDArray[np.int64]:
    if not set(map(type, ids)) <= {int}:
        ids = [as_u32(i, "token id") for i in ids]
    try:
        numbers = np.fromiter(ids, np.int64, len(ids))
    except OverflowError:
        worst = next(i for i in ids if not 0 <= i <= MAX_ID)
        raise IdRangeError(f"token id {worst} is outside 0..{MAX_ID}") from None
    if len(numbers):
        lowest, highest = int(np.min(numbers)), int(np.max(numbers))
        if lowest < 0 or highest > MAX_ID:
            raise IdRangeError(f"token id {lowest if lowest < 0 else highest} is outside 0..{MAX_ID}")
    return numbers


def _fixed(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same numbers in memory that nobody can make writable."""
    if not len(numbers):
        numbers.flags.writeable = False
        return numbers
    return np.frombuffer(numbers.tobytes(), numbers.dtype)


def _restore(ids: bytes, offsets: bytes, blob: bytes, end_ids: tuple[int, ...]) -> Vocab:
    return Vocab._assemble(np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.int64), blob, end_ids)
