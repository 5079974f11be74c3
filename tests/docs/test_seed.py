"""The call forms of the reference API, each in a small program of our own."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glrmask

BYTES = glrmask.Vocab.from_id_to_bytes({i: bytes([i]) for i in range(256)} | {256: b"", 257: b"lookup"})
END = 256


@pytest.fixture(autouse=True)
def everything_installed() -> None:
    for part in ("frontend-glrm", "frontend-ebnf", "frontend-lark", "frontend-jsonschema", "engine-native"):
        try:
            importlib.metadata.distribution(f"glrmask-{part}")
        except importlib.metadata.PackageNotFoundError:
            pytest.skip(f"glrmask-{part} is not installed here")


def allowed(state: glrmask.ConstraintState) -> list[int]:
    return [int(i) for i in state.mask().nonzero()[0]]


@pytest.mark.parametrize("mode", [None, *glrmask.Optimization], ids=str)
def test_quickstart_in_every_mode(mode: glrmask.Optimization | None) -> None:
    vocab = glrmask.Vocab.from_dict({b"hello": 0, b" ": 1, b"world": 2, b"<eos>": 3})
    grammar = glrmask.Grammar.from_ebnf('start ::= "hello" " " "world"')
    state = grammar.compile(vocab, end_tokens=[3], optimization=mode).start()
    assert state.mask().tolist() == [True, False, False, False]
    state.commit_token(0)
    assert state.mask().tolist() == [False, True, False, False]
    state.commit_token(1)
    state.commit_token(2)
    assert state.is_accepting()
    assert state.mask()[3]
    state.commit_token(3)
    assert not state.mask().any()


def test_both_directions_of_a_vocabulary_are_the_same() -> None:
    assert glrmask.Vocab.from_dict({b"yes": 0, b"no": 1}) == glrmask.Vocab.from_id_to_bytes({0: b"yes", 1: b"no"})


def test_extern_token() -> None:
    grammar = glrmask.Grammar.from_glrm(
        """
        glrm 1;
        start message;
        extern token TOOL_CALL;
        nt message = TOOL_CALL "lookup()";
        """
    )
    state = grammar.bind("TOOL_CALL", BYTES.token(END)).compile(BYTES).start()
    assert allowed(state) == [END]
    state.commit_token(END)
    assert allowed(state) == [ord("l"), 257]
    with pytest.raises(ValueError, match="TOOL_CALL"):
        grammar.compile(BYTES)


def test_exact_tokens_are_alternatives() -> None:
    grammar = glrmask.Grammar.from_glrm("glrm 1; start m; extern token T; nt m = T;")
    state = grammar.bind("T", BYTES.tokens([257, END])).compile(BYTES).start()
    assert allowed(state) == [END, 257]


def test_every_constructor_compiles() -> None:
    grammars = [
        glrmask.Grammar.from_json_schema({"const": True}),
        glrmask.Grammar.from_json_schema('{"const": true}'),
        glrmask.Grammar.from_glrm('glrm 1; start s; nt s = "true";'),
        glrmask.Grammar.from_lark('start: "true"'),
        glrmask.Grammar.from_ebnf('start ::= "true"'),
    ]
    for grammar in grammars:
        state = grammar.compile(BYTES, end_tokens=[END], optimization=glrmask.Optimization.AUTO).start()
        state.commit_bytes(b"true")
        assert allowed(state) == [END]


def test_parser_backend() -> None:
    constraint = glrmask.Grammar.from_ebnf('start ::= "a"').compile(
        BYTES,
        optimization=glrmask.Optimization.FAST_RUNTIME,
        parser_backend=glrmask.ParserBackend.TEMPLATE_DFA,
    )
    assert constraint.parser_backend == glrmask.ParserBackend.TEMPLATE_DFA
    assert glrmask.Constraint.load(constraint.save()).parser_backend == glrmask.ParserBackend.TEMPLATE_DFA


def no_edges(accepting: bool) -> dict[str, Any]:
    return {"start": 0, "states": [{"accepting": accepting, "transitions": []}]}


def pushing(symbol: int) -> dict[str, Any]:
    edge = {"label": {"Symbol": symbol}, "target": 1}
    states = [{"accepting": False, "transitions": [edge]}, {"accepting": True, "transitions": []}]
    template = {"pop": no_edges(False), "read": no_edges(False), "push": {"start": 0, "states": states}}
    return template | {"pop_to_read": [], "pop_to_push": [0], "read_to_push": []}


def popping(symbol: int) -> dict[str, Any]:
    edge = {"label": {"Symbol": symbol}, "target": 1}
    states = [{"accepting": False, "transitions": [edge]}, {"accepting": True, "transitions": []}]
    template = {"pop": {"start": 0, "states": states}, "read": no_edges(False), "push": no_edges(False)}
    return template | {"pop_to_read": [], "pop_to_push": [], "read_to_push": []}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("mode", glrmask.Optimization, ids=str)
def test_parser_program(mode: glrmask.Optimization, as_text: bool) -> None:
    definition = {"stack_symbol_count": 2, "terminals": [pushing(1), popping(1)], "completion": popping(0)}
    program = glrmask.ParserProgram(json.dumps(definition) if as_text else definition)
    assert program.terminal_count == 2
    state = program.compile(BYTES, [b"(", r"\)"], optimization=mode).start()
    assert state.is_accepting()
    assert allowed(state) == [ord("(")]
    state.commit_bytes(b"(()")
    assert allowed(state) == [ord("("), ord(")")] and not state.is_accepting()
    state.commit_bytes(b")")
    assert allowed(state) == [ord("(")] and state.is_accepting()


PARENT = """
glrm 1;
start document;
extern grammar payload;
nt document = "{" payload "}";
"""


def test_source_and_compiled_children_agree() -> None:
    parent = glrmask.Grammar.from_glrm(PARENT)
    schema = {"type": "integer"}
    inlined = parent.bind("payload", glrmask.Grammar.from_json_schema(schema)).compile(BYTES)
    host = parent.compile_unlinked(BYTES)
    child = glrmask.Grammar.from_json_schema(schema).compile(BYTES, end_tokens=[END])
    linked = host.bind("payload", child).link(optimization=glrmask.Optimization.FAST_RUNTIME)
    reloaded = glrmask.UnlinkedConstraint.load(host.save()).bind("payload", child).link(end_tokens=[END])
    one, two, three = inlined.start(), linked.start(), reloaded.start()
    for byte in b"{-12}":
        assert allowed(one) == allowed(two) == allowed(three)
        for state in (one, two, three):
            state.commit_token(byte)
    assert allowed(one) == allowed(two) == []
    assert allowed(three) == [END]
    with pytest.raises(TypeError):
        parent.bind("payload", child)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        host.bind("payload", parent)  # type: ignore[arg-type]


def test_decoding_loop_with_wide_logits() -> None:
    constraint = glrmask.Grammar.from_ebnf("start ::= [a-c] [a-c] [a-c]? [a-c]? [a-c]?").compile(
        BYTES, end_tokens=[END]
    )
    state, size, rng = constraint.start(), 300, np.random.default_rng(0)
    written = []
    while True:
        mask = state.mask(size)
        assert mask.shape == (size,) and not mask[258:].any()
        token_id = int(np.where(mask, rng.normal(size=size), -np.inf).argmax())
        state.commit_token(token_id)
        if token_id == END:
            break
        written.append(token_id)
    assert 2 <= len(written) <= 5 and set(written) <= set(b"abc")


def test_packed_masks_are_signed_or_not() -> None:
    state = glrmask.Grammar.from_ebnf('start ::= "a" | "é"').compile(BYTES).start()
    for dtype in (np.int32, np.uint32):
        words = np.full(12, -1, np.int32).astype(dtype)
        state.fill_mask(words)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        assert np.flatnonzero(bits).tolist() == [ord("a"), "é".encode()[0]]


def test_artifacts_with_and_without_their_vocabulary() -> None:
    constraint = glrmask.Grammar.from_json_schema({"enum": ["a", "b"]}).compile(BYTES, end_tokens=[END])
    again = glrmask.Constraint.load(constraint.save())
    assert allowed(again.start()) == allowed(constraint.start())
    artifact = constraint.save_with_external_vocab()
    assert allowed(glrmask.Constraint.load(artifact, vocab=BYTES).start()) == allowed(constraint.start())
    permuted = glrmask.Vocab.from_id_to_bytes({i: bytes([255 - i]) for i in range(256)} | {256: b"", 257: b"lookup"})
    for vocab in (None, permuted):
        with pytest.raises(ValueError):
            glrmask.Constraint.load(artifact, vocab=vocab)


def test_glrm_sample() -> None:
    grammar = glrmask.Grammar.from_glrm(
        """
        glrm 1;
        start value;
        t NUMBER = /-?(0|[1-9][0-9]*)/;
        nt value = NUMBER | "null";
        """
    )
    constraint = grammar.compile(BYTES)
    assert [constraint.accepts(text) for text in (b"-10", b"null", b"01", b"")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("format_", "text"), [("lark", 'start: "a" @token(257)'), ("ebnf", 'start ::= "a" @token(257)')]
)
def test_token_atoms(format_: str, text: str) -> None:
    grammar = glrmask.Grammar.from_source(text, format=format_)
    state = grammar.compile(BYTES).start()
    state.commit_bytes(b"a")
    assert allowed(state) == [257]
    state.commit_token(257)
    assert state.is_accepting()


def test_memory_diagnostics() -> None:
    from glrmask import _internal

    assert _internal.mimalloc_purge_delay() >= 0
    assert _internal.mimalloc_purge_decommits() in (True, False)
    _internal.collect_allocator(force=True)


# -- the reference's own blocks ------------------------------------------------------------------------------------

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "spec" / "seed_api_reference.txt"


def code_of(text: str) -> list[str]:
    """The paragraphs that are Python with a call or an assignment, each run of them as one block."""
    blocks: list[list[str]] = [[]]
    for paragraph in text.split("\n\n"):
        try:
            tree = ast.parse(paragraph)
        except SyntaxError:
            tree = ast.Module([], [])
        code = any(isinstance(node, (ast.Call, ast.Assign, ast.Import, ast.ImportFrom)) for node in ast.walk(tree))
        if code:
            blocks[-1].append(paragraph)
        elif blocks[-1]:
            blocks.append([])
    return ["\n\n".join(block) for block in blocks if block]


def llama() -> ModuleType:
    """``llama_cpp`` with a model of four tokens, the last one an end of generation."""
    texts = (b"lookup()", b"y", b"n", b"</s>")

    def piece(vocab: Any, id: int, buffer: Any, size: int, lstrip: int, special: bool) -> int:
        if buffer is None:
            return -len(texts[id])
        buffer.raw = texts[id]
        return len(texts[id])

    module = ModuleType("llama_cpp")
    parts: dict[str, Any] = {
        "Llama": lambda model_path, logits_all: SimpleNamespace(model=None, n_vocab=lambda: len(texts)),
        "llama_model_get_vocab": lambda model: None,
        "llama_vocab_is_eog": lambda vocab, id: id == 3,
        "llama_vocab_get_attr": lambda vocab, id: 4,
        "llama_token_to_piece": piece,
    }
    for name, part in parts.items():
        setattr(module, name, part)
    return module


def sample_with_mask(logits: Any, mask: Any) -> int:
    return int(np.where(mask, logits, -np.inf).argmax())


def test_blocks_of_the_reference_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, one after the other, with what their text leaves open filled in."""
    if not REFERENCE.exists():
        pytest.skip(f"no {REFERENCE.parent.name}/{REFERENCE.name} beside the checkout")
    blocks = code_of(REFERENCE.read_text(encoding="utf-8"))
    monkeypatch.setitem(sys.modules, "llama_cpp", llama())
    ab = glrmask.Grammar.from_ebnf('start ::= "a" "b"?').compile(BYTES, end_tokens=[END])
    filled_in: dict[str, dict[str, Any]] = {  # before the first block with these words
        "TOOL_CALL": {"tool_call_token_id": 3},
        "Grammar.from_json_schema(schema)": {"schema": {"const": 1}, "grammar": 'start ::= "y" | "n"'},
        "optimization=glrmask.Optimization.AUTO": {"grammar": glrmask.Grammar.from_ebnf('start ::= "y" | "n"')},
        "ParserProgram(definition)": {
            "definition": {"stack_symbol_count": 2, "terminals": [pushing(1), popping(1)], "completion": popping(0)},
            "terminal_patterns": [b"y", "n"],
        },
        "while generating": {
            "constraint": ab,
            "configured_end_token_ids": {END},
            "generating": True,
            "model_vocab_size": 300,
            "logits": np.arange(300),
            "sample_with_mask": sample_with_mask,
        },
        "end_tokens=[eos_id]": {"eos_id": 3},
        "payload_schema": {"payload_schema": {"type": "integer"}, "vocab": BYTES},
    }
    namespace: dict[str, Any] = {"__name__": "reference"}
    for number, block in enumerate(blocks):
        for words in [words for words in filled_in if words in block]:
            namespace |= filled_in.pop(words)
        try:
            exec(compile(block, f"block {number}", "exec"), namespace)
        except Exception as error:
            raise AssertionError(f"block {number}:\n{block}") from error
    assert not filled_in
    assert namespace["token_id"] == END and namespace["constraint"].vocab is namespace["vocab"]
    assert len(blocks) >= 15
