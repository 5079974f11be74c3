"""Bad arguments of every public function: the documented exception, with the place and what was found."""

# ruff: noqa: E501  one line per row of the table

from __future__ import annotations

import array
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Cache, Constraint, Limits, ParserProgram, UnlinkedConstraint, Vocab, fill_masks

EOS = 20
WORDS = 1
IDLE = {"start": 0, "states": [{"accepting": False, "transitions": []}]}
IDENTITY = {
    "pop": {"start": 0, "states": [{"accepting": True, "transitions": []}]},
    "read": IDLE,
    "push": IDLE,
    "pop_to_read": [],
    "pop_to_push": [],
    "read_to_push": [],
}
PROGRAM = {"stack_symbol_count": 1, "terminals": [IDENTITY], "completion": IDENTITY}


class World:
    """One of everything."""

    def __init__(self, grammar: Callable[[str], glrmask.Grammar], vocab: Vocab, engine: str, path: Path) -> None:
        self.vocab, self.engine, self.path = vocab, engine, path
        self.open_grammar = grammar("a $P @T")
        self.grammar = grammar("a b* | ab c")
        self.unlinked = self.open_grammar.compile_unlinked(vocab)
        self.constraint = self.compile()
        self.program = ParserProgram(PROGRAM)
        self.cache = Cache(path / "cache")

    def compile(self, **options: Any) -> Constraint:
        return self.grammar.compile(self.vocab, **{"end_tokens": [EOS], "engine": self.engine, **options})

    @property
    def state(self) -> glrmask.ConstraintState:
        return self.constraint.start()


@pytest.fixture
def world(grammar: Any, letters: Vocab, engine: str, tmp_path: Path) -> World:
    return World(grammar, letters, engine, tmp_path)


def mask(*shape: int, dtype: Any = np.uint32) -> Any:
    return np.zeros(shape, dtype)


def read_only() -> Any:
    words = mask(WORDS)
    words.flags.writeable = False
    return words


OTHER = object()
NO_INT: list[Any] = [None, 1.0, "1", b"1", [1], (), {}, object(), 1j, np.float32(1), np.array([1, 2]), range(1)]
NEGATIVE: list[Any] = [-1, -(2**70), np.int8(-1)]
HUGE: list[Any] = [2**32, 2**64]
NO_LIST: list[Any] = [
    5,
    1.0,
    "ab",
    b"ab",
    bytearray(b"a"),
    memoryview(b"a"),
    {1},
    {1: 2},
    object(),
    np.int64(3),
    np.array(3),
]
NO_BYTES: list[Any] = [
    None,
    5,
    1.0,
    [1],
    {},
    object(),
    np.int64(3),
    np.array([1, 2]),
    memoryview(b"abcd")[::2],
    array.array("i", [1]),
]
NO_BOOL: list[Any] = [None, 0, 1, "", "no", [], np.array([1, 2]), object()]
NO_NAME: list[Any] = [5, 1.0, b"native", [], {}, object()]
NO_BUFFER: list[Any] = [None, 5, [0], b"\0" * 8, bytearray(8), memoryview(bytearray(8)), object()]
NO_VOCAB: list[Any] = [None, 5, {b"a": 0}, [b"a"], "a", object()]

TYPE, RANGE, VALUE = TypeError, OverflowError, ValueError
T = Callable[[World, Any], Any]
# (what is called, arguments that are refused, the exception, a part of its message)
TABLE: list[tuple[str, T, list[Any], type[Exception], str]] = [
    ("mask(size)", lambda w, x: w.state.mask(x), NO_INT[1:], TYPE, r"mask\(\): size must be an integer, not \w+"),
    ("mask(size)", lambda w, x: w.state.mask(x), NEGATIVE + HUGE, RANGE, "size .* outside"),
    ("mask(size)", lambda w, x: w.state.mask(x), [0, 1, True, np.int64(3)], VALUE, "at least 22 bits"),
    ("mask(budget)", lambda w, x: w.state.mask(budget=x), NO_INT[1:], TYPE, r"mask\(\): budget must be an integer"),
    ("mask(budget)", lambda w, x: w.state.mask(budget=x), NEGATIVE + HUGE, RANGE, "budget .* outside"),
    ("mask(exact)", lambda w, x: w.state.mask(budget=3, exact=x), NO_BOOL, TYPE, r"mask\(\): exact must be True or False"),
    ("commit_token", lambda w, x: w.state.commit_token(x), NO_INT, TYPE, "token id must be an integer, not"),
    ("commit_token", lambda w, x: w.state.commit_token(x), NEGATIVE + HUGE, RANGE, "token id .* outside"),
    ("commit_bytes", lambda w, x: w.state.commit_bytes(x), [*NO_BYTES, "a"], TYPE, "data must be"),
    ("commit_tokens", lambda w, x: w.state.commit_tokens(x), [None, *NO_LIST], TYPE, "commit_tokens: ids must be a sequence"),
    ("commit_tokens", lambda w, x: w.state.commit_tokens([0, x]), NO_INT, TYPE, r"commit_tokens: ids\[1\] must be"),
    ("commit_tokens", lambda w, x: w.state.commit_tokens([0, x]), NEGATIVE + HUGE, RANGE, r"commit_tokens: ids\[1\] "),
    ("validate", lambda w, x: w.state.validate_tokens(x), [None, *NO_LIST], TYPE, "validate_tokens: ids must be a sequence"),
    ("validate", lambda w, x: w.state.validate_tokens([0, x]), NO_INT, TYPE, r"validate_tokens: ids\[1\] must be"),
    ("rollback", lambda w, x: w.state.rollback(x), NO_INT, TYPE, r"rollback\(\): n must be an integer"),
    ("rollback", lambda w, x: w.state.rollback(x), NEGATIVE + HUGE, RANGE, r"rollback\(\): n .* outside"),
    ("forced", lambda w, x: w.state.forced(x), NO_INT, TYPE, r"forced\(\): max_bytes must be an integer"),
    ("forced", lambda w, x: w.state.forced(x), NEGATIVE, RANGE, "max_bytes .* outside"),
    ("explain", lambda w, x: w.state.explain(x), [None, 1.0, "a", [1], {}, object()], TYPE, "must be an integer|takes a token"),
    ("explain", lambda w, x: w.state.explain(x), NEGATIVE + HUGE, RANGE, "token id .* outside"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), NO_BUFFER, TYPE, "must be a numpy array of int32 or uint32, not"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [mask(9, dtype=d) for d in ("u8", "i8", ">u4", "f4", "?", "u1")], TYPE, "must be int32 or uint32 in native"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [mask(1, WORDS), mask(WORDS, 1), np.zeros((), np.uint32)], TYPE, "dimension"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [mask(4)[::2]], VALUE, "not C-contiguous"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [read_only()], VALUE, "read-only"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [mask(0)], VALUE, "0 words, at least 1"),
    ("fill_mask", lambda w, x: w.state.fill_mask(x), [mask(33, dtype="u1")[1:].view("u4")], VALUE, "not aligned"),
    ("drafts", lambda w, x: w.state.fill_draft_masks(x, mask(3, WORDS)), [None, *NO_LIST], TYPE, "fill_draft_masks: ids must be a sequence"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, x], mask(3, WORDS)), NO_INT, TYPE, r"fill_draft_masks: ids\[1\] must"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, x], mask(3, WORDS)), NEGATIVE, RANGE, r"fill_draft_masks: ids\[1\] "),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0], x), NO_BUFFER, TYPE, "must be a numpy array"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0], x), [mask(WORDS)], TYPE, "dimension"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0], x), [mask(n, WORDS) for n in (0, 1, 3)], VALUE, "2 are needed"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, 1], mask(3, WORDS), x), NO_LIST, TYPE, "fill_draft_masks: parents must be a sequence"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, 1], mask(3, WORDS), x), [[], [-1], [-1, 0, 1], [0, 0], [-1, 1]], VALUE, "fill_draft_masks: parents"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, 1], mask(3, WORDS), [-1, x]), NO_INT, TYPE, r"parents\[1\] must be an integer"),
    ("drafts", lambda w, x: w.state.fill_draft_masks([0, 1], mask(3, WORDS), [-1, x]), [-2, 2**40], RANGE, r"parents\[1\] .* outside"),
    ("fill_masks", lambda w, x: fill_masks(x, mask(1, WORDS)), [None, *NO_LIST], TYPE, "fill_masks: states must be a sequence of ConstraintState"),
    ("fill_masks", lambda w, x: fill_masks([w.state, x], mask(2, WORDS)), [None, 5, "a", object()], TYPE, r"fill_masks: states\[1\] is a \w+"),
    ("fill_masks", lambda w, x: fill_masks(w.state, mask(1, WORDS)), [0], TYPE, "fill_masks: states must be a sequence"),
    ("fill_masks", lambda w, x: fill_masks([w.state], x), NO_BUFFER, TYPE, "must be a numpy array"),
    ("fill_masks", lambda w, x: fill_masks([w.state], x), [mask(0, WORDS), mask(2, WORDS), mask(1, 0)], VALUE, "needed"),
    ("fill_masks", lambda w, x: fill_masks([w.state], mask(1, WORDS), x), NO_INT, TYPE, "fill_masks: threads must be an integer"),
    ("fill_masks", lambda w, x: fill_masks([w.state], mask(1, WORDS), x), NEGATIVE, RANGE, "fill_masks: threads"),
    ("start", lambda w, x: w.constraint.start(x), NO_INT, TYPE, r"start\(\): max_rollback must be an integer"),
    ("start", lambda w, x: w.constraint.start(x), NEGATIVE + HUGE, RANGE, "max_rollback .* outside"),
    ("accepts", lambda w, x: w.constraint.accepts(x), NO_BYTES, TYPE, "text must be"),
    ("sample(rng)", lambda w, x: w.constraint.sample(x), [*NO_INT[1:], np.random], TYPE, "sample: rng must be a numpy.random.Generator"),
    ("sample(rng)", lambda w, x: w.constraint.sample(x), NEGATIVE, RANGE, "sample: rng is the seed -"),
    ("sample(max)", lambda w, x: w.constraint.sample(0, x), NO_INT, TYPE, r"sample\(\): max_bytes must be an integer"),
    ("sample(max)", lambda w, x: w.constraint.sample(0, x), NEGATIVE, RANGE, r"sample\(\): max_bytes .* outside"),
    ("save", lambda w, x: w.constraint.save(external_vocab=x), NO_BOOL, TYPE, "external_vocab must be True or False"),
    ("load", lambda w, x: Constraint.load(x), [None, 5, "a", [1], object()], TYPE, "data must be bytes, not"),
    ("load", lambda w, x: Constraint.load(x), [memoryview(b"abcd")[::2], memoryview(b"abcd")[::-1]], TYPE, "contiguous"),
    ("load", lambda w, x: Constraint.load(x), [b"", b"\0", bytearray(9), array.array("i", [1])], VALUE, "data"),
    ("load(vocab)", lambda w, x: Constraint.load(w.constraint.save(), x), NO_VOCAB[1:], TYPE, "vocab must be a glrmask.Vocab"),
    ("load(engine)", lambda w, x: Constraint.load(w.constraint.save(), engine=x), NO_NAME, TYPE, "engine must be the name"),
    ("load(background)", lambda w, x: Constraint.load(w.constraint.save(), background=x), NO_BOOL, TYPE, "background must be True or False"),
    ("load(limits)", lambda w, x: Constraint.load(w.constraint.save(), limits=x), [5, {}, Limits], TYPE, "limits must be"),
    ("load unlinked", lambda w, x: UnlinkedConstraint.load(x), [None, 5, "a", [1]], TYPE, "data must be bytes, not"),
    ("load unlinked", lambda w, x: UnlinkedConstraint.load(w.unlinked.save(), x), NO_VOCAB[1:], TYPE, "vocab must be"),
    ("compile(vocab)", lambda w, x: w.grammar.compile(x), NO_VOCAB, TYPE, "vocab must be a glrmask.Vocab, not"),
    ("compile_unlinked", lambda w, x: w.grammar.compile_unlinked(x), NO_VOCAB, TYPE, "vocab must be"),
    ("compile_unlinked", lambda w, x: w.grammar.compile_unlinked(w.vocab, parser_backend=x), [5, "x", 0], TYPE, "parser_backend must"),
    ("end_tokens", lambda w, x: w.compile(end_tokens=x), [5, 1.0, "ab", b"a", {1: 2}, object(), np.int64(3), np.array(3), (i for i in [1])], TYPE, "end_tokens must be a sequence"),
    ("end_tokens", lambda w, x: w.compile(end_tokens=[19, x]), NO_INT, TYPE, r"end_tokens\[1\] must be an integer"),
    ("end_tokens", lambda w, x: w.compile(end_tokens=[19, x]), NEGATIVE + HUGE, RANGE, r"end_tokens\[1\] "),
    ("end_tokens", lambda w, x: w.compile(end_tokens=x), [[1, 1], (EOS, EOS), np.array([7, 7])], VALUE, "given twice"),
    ("end_tokens", lambda w, x: w.compile(end_tokens=[x]), [2**24, 2**31], VALUE, "not in the vocabulary and would widen"),
    ("optimization", lambda w, x: w.compile(optimization=x), ["auto", 0, glrmask.ParserBackend.TEMPLATE_DFA], TYPE, "optimization must be"),
    ("parser_backend", lambda w, x: w.compile(parser_backend=x), ["lr", 0], TYPE, "parser_backend must be"),
    ("parser_backend", lambda w, x: w.compile(parser_backend=x), [glrmask.ParserBackend.LR_TABLE], VALUE, "lr_table|LR_TABLE"),
    ("engine", lambda w, x: w.compile(engine=x), NO_NAME, TYPE, "engine must be the name"),
    ("engine", lambda w, x: w.compile(engine=x), ["", "nosuch"], VALUE, "installed"),
    ("background", lambda w, x: w.compile(background=x), NO_BOOL, TYPE, "background must be True or False"),
    ("limits", lambda w, x: w.compile(limits=x), [5, {}, "x", Limits], TYPE, "limits must be a glrmask.Limits"),
    ("bind", lambda w, x: w.open_grammar.bind(x, w.grammar), [None, 5, b"P", []], TYPE, "slot name must be a str"),
    ("bind", lambda w, x: w.open_grammar.bind("P", x), [None, 5, "a", OTHER], TYPE, "takes a Grammar or exact tokens, not"),
    ("bind", lambda w, x: w.open_grammar.bind(x, w.grammar), ["", "Q", "P.Q", "\0"], VALUE, "no slot"),
    ("bind compiled", lambda w, x: w.unlinked.bind(x, w.constraint), [None, 5, b"P", []], TYPE, "slot name must be a str"),
    ("bind compiled", lambda w, x: w.unlinked.bind("P", x), [None, 5, "a", OTHER], TYPE, "takes a Constraint or exact tokens"),
    ("from_dict", lambda w, x: Vocab.from_dict(x), [None, 5, [b"a"], "a", {1}], TYPE, "needs a mapping"),
    ("from_dict", lambda w, x: Vocab.from_dict({b"a": x}), NO_INT, TYPE, "token id must be an integer"),
    ("from_dict", lambda w, x: Vocab.from_dict({b"a": x}), NEGATIVE + HUGE, RANGE, "outside"),
    ("from_dict", lambda w, x: Vocab.from_dict({x: 1}), ["a", None, 5, ()], TYPE, "bytes of token 1 must be bytes, not"),
    ("from_id_to_bytes", lambda w, x: Vocab.from_id_to_bytes(x), [None, 5, [b"a"], "a", {1}], TYPE, "needs a mapping"),
    ("from_id_to_bytes", lambda w, x: Vocab.from_id_to_bytes({1: x}), ["a", None, 5, bytearray(b"a")], TYPE, "must be bytes, not"),
    ("token", lambda w, x: w.vocab.token(x), NO_INT, TYPE, "token id must be an integer"),
    ("token", lambda w, x: w.vocab.token(x), [19, 2**31], VALUE, "not in the vocabulary"),
    ("tokens", lambda w, x: w.vocab.tokens(x), [None, *NO_LIST, (i for i in [1])], TYPE, "sequence of"),
    ("tokens", lambda w, x: w.vocab.tokens(x), [[], (), [0, 0], [19]], VALUE, "at least one|given twice|not in the"),
    ("has", lambda w, x: w.vocab.has(x), NO_INT, TYPE, "token id must be an integer"),
    ("bytes_of", lambda w, x: w.vocab.bytes_of(x), NO_INT, TYPE, "token id must be an integer"),
    ("bytes_of", lambda w, x: w.vocab.bytes_of(x), [-1, 19, 2**70], VALUE, "not in the vocabulary"),
    *[
        (f"Vocab.{name}", lambda w, x, name=name: getattr(Vocab, name)(x), [None, 5, "gpt2", {}], VALUE, "NoneType|int|str|dict")  # type: ignore[misc]
        for name in ("from_tokenizers", "from_transformers", "from_tiktoken", "from_sentencepiece", "from_mistral")
    ],
    ("ParserProgram", lambda w, x: ParserProgram(x), [None, 5, b"{}", [], object()], TYPE, "definition|JSON"),
    ("ParserProgram", lambda w, x: ParserProgram(x), ["", "{", "[]", "5", {}], VALUE, "."),
    ("patterns", lambda w, x: w.program.compile(w.vocab, x), [None, 5, "a", b"a", {b"a"}], TYPE, "terminal_patterns must be a sequence"),
    ("patterns", lambda w, x: w.program.compile(w.vocab, [x]), [None, 5, ["a"]], TYPE, r"terminal_patterns\[0\] must be"),
    ("patterns", lambda w, x: w.program.compile(w.vocab, x), [[], [b"a", b"b"], [b""], ["a*"], ["("]], VALUE, "terminal_patterns"),
    ("ignore", lambda w, x: w.program.compile(w.vocab, [b"a"], ignore_terminal=x), NO_INT[1:], TYPE, "ignore_terminal must be an integer"),
    ("ignore", lambda w, x: w.program.compile(w.vocab, [b"a"], ignore_terminal=x), [1, 2**31], VALUE, "ignore_terminal"),
    ("Cache", lambda w, x: Cache(x), [None, 5, 1.0, b"x", [], {}, object()], TYPE, "Cache: directory must be a str"),
    ("Cache", lambda w, x: Cache(str(w.path) + x), ["/a\0b", "/\ud800"], VALUE, "Cache: directory .* is no path"),
    ("Cache(max)", lambda w, x: Cache(w.path, x), NO_INT, TYPE, "Cache: max_mebibytes must be an integer"),
    ("Cache(max)", lambda w, x: Cache(w.path, x), NEGATIVE, RANGE, "Cache: max_mebibytes"),
    ("Cache.compile", lambda w, x: w.cache.compile(x, w.vocab), [None, 5, "a"], TYPE, "grammar must be a glrmask.Grammar"),
    ("Cache.compile", lambda w, x: w.cache.compile(w.grammar, x), NO_VOCAB, TYPE, "vocab must be a glrmask.Vocab"),
    ("Cache.compile", lambda w, x: w.cache.compile(w.grammar, w.vocab, engine=x), NO_NAME, TYPE, "engine must be the name"),
    ("Limits", lambda w, x: Limits(states=x), [None, 1.0, "1", True, [1]], TYPE, "Limits.states must be an int"),
    ("Limits", lambda w, x: Limits(build_seconds=x), [None, "1", True, [1]], TYPE, "Limits.build_seconds must be a number"),
    ("Limits", lambda w, x: Limits(states=x), [0, -1, 2**32], VALUE, "Limits.states must be in"),
    ("Limits", lambda w, x: Limits(build_seconds=x), [0, -1, float("nan"), float("inf")], VALUE, "build_seconds must be in"),
]  # fmt: skip
NUMBERED = [f"{name} {at}" for at, (name, *_) in enumerate(TABLE)]


@pytest.mark.parametrize(("call", "bad", "error", "message"), [row[1:] for row in TABLE], ids=NUMBERED)
def test_refused_by_name(world: World, call: T, bad: list[Any], error: type[Exception], message: str) -> None:
    for value in bad:
        with pytest.raises(error, match=message) as caught:
            call(world, value)
        assert isinstance(caught.value, glrmask.GlrmaskError), (value, caught.value)
        assert not isinstance(caught.value, glrmask.InternalError)


def test_the_table_has_every_public_method() -> None:
    """A new method without arguments to refuse is listed here; one with arguments goes into the table."""
    plain = {
        "clone shortest_completion is_accepting is_rejected is_terminated constraint",
        "mask_len save_with_external_vocab width module vocab options end_tokens optimization parser_backend",
        "engine_name compiled program report unbound_slots slots link identity max_id domain entries first_bytes",
        "spelling llama_cpp_end_token_ids from_llama_cpp engine_cache engine_lock terminal_count definition to_json",
        "stack_symbol_count directory clear size format text bindings warnings digest",
        "from_glrm from_ebnf from_lark from_json_schema from_source",  # of front-ends, in tests/unit/test_grammar.py
    }
    known = set(itertools.chain.from_iterable(line.split() for line in plain))
    source = Path(__file__).read_text(encoding="utf-8")
    for cls in (Vocab, glrmask.Grammar, UnlinkedConstraint, Constraint, glrmask.ConstraintState, ParserProgram, Cache):
        for name in vars(cls):
            assert name.startswith("_") or name in known or f".{name}(" in source or f'"{name}"' in source, name


def test_nothing_changes(world: World) -> None:
    state = world.state
    state.commit_token(0)
    before = state.mask()
    for name, call, bad, _, _ in TABLE:
        if name in ("mask(size)", "commit_token", "commit_bytes", "commit_tokens", "rollback", "explain"):
            world.constraint = type("Fixed", (), {"start": lambda self: state})()  # type: ignore[assignment]
            for value in bad:
                with pytest.raises(glrmask.GlrmaskError):
                    call(world, value)
    assert (state.mask() == before).all() and not state.is_rejected()


def test_what_is_like_an_integer_or_a_list_is_taken(world: World) -> None:
    state = world.state
    state.commit_tokens(np.array([0, 1]))
    state.commit_tokens(i for i in (1, np.int64(1), True))
    assert state.validate_tokens(range(1, 2)) == 1 and state.validate_tokens((1, 2**40)) == 1
    state.rollback(np.uint8(1))
    state.fill_draft_masks((1,), mask(2, WORDS), np.array([-1]))
    fill_masks((state for _ in range(2)), mask(2, WORDS), np.int8(2))  # type: ignore[arg-type]
    assert world.vocab.has(np.int64(1)) and not world.vocab.has(-1) and not world.vocab.has(2**70)
    assert world.compile(end_tokens={EOS}).end_tokens == world.compile(end_tokens=np.array([EOS])).end_tokens == [EOS]
    assert Constraint.load(np.frombuffer(world.constraint.save(), np.uint8)).width == world.constraint.width  # type: ignore[arg-type]
    state.commit_bytes(memoryview(b"b"))
    state.commit_bytes(np.frombuffer(b"b", np.uint8))  # type: ignore[arg-type]


# -- masks that would be too wide -----------------------------------------------------------------------------


@pytest.mark.parametrize("id", [2**26, 2**31, 2**32 - 1])
def test_sparse_ids_are_a_limit(grammar: Any, engine: str, id: int) -> None:
    vocab = Vocab.from_dict({b"a": id})
    with pytest.raises(glrmask.LimitExceededError, match=f"token id {id} .*Limits.mask_bits = 67108864") as caught:
        grammar("a").compile(vocab, engine=engine)
    assert caught.value.limit == "mask_bits"


def test_mask_bits(grammar: Any, letters: Vocab, engine: str) -> None:
    def width(text: str, **options: Any) -> int:
        return int(grammar(text).compile(letters, engine=engine, **options).width)

    assert width("a", limits=Limits(mask_bits=22)) == 22
    with pytest.raises(glrmask.LimitExceededError, match="token id 21"):
        width("a", limits=Limits(mask_bits=21))
    assert width("a", end_tokens=[99], limits=Limits(mask_bits=100)) == 100
    with pytest.raises(glrmask.LimitExceededError, match="token id 100"):
        width("a", end_tokens=[100], limits=Limits(mask_bits=100))
    with pytest.raises(glrmask.LimitExceededError, match="token id 100"):
        width("a #100", limits=Limits(mask_bits=100))
    saved = grammar("a").compile(letters, engine=engine).save()
    with pytest.raises(glrmask.ArtifactError, match="mask_bits"):
        Constraint.load(saved, limits=Limits(mask_bits=21))


# -- values nest as deep as their operations can go -------------------------------------------------------------


def test_grammars_bound_too_deep_are_refused_when_bound(grammar: Any, letters: Vocab, engine: str) -> None:
    outer, inner = grammar("$P"), grammar("a")
    for _ in range(250):
        inner = outer.bind("P", inner)
    assert inner == outer.bind("P", inner.bindings["P"]) and hash(inner) and inner.digest() and not inner.slots()
    if engine != "oracle":  # which recurses, and is for small grammars
        assert inner.compile(letters, engine=engine).accepts(b"a")
    with pytest.raises(glrmask.BindError, match='slot "P": grammars are bound more than 250 levels deep'):
        outer.bind("P", inner)


def test_mappings_are_read_once() -> None:
    class Moody(dict[Any, Any]):
        def keys(self) -> Any:
            raise AssertionError("asked for its keys")

        def values(self) -> Any:
            raise AssertionError("asked for its values")

    assert Vocab.from_dict(Moody({b"a": 1})) == Vocab.from_id_to_bytes(Moody({1: b"a"}))
