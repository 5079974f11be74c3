"""Runs case files: a grammar as JSON with outputs that it allows and forbids, by text and by token.

Fields (all but ``format`` and ``grammar`` may be missing):

=================================  ===================================================================
``format``, ``grammar``            the front-end, or ``regex`` for one whole-text regular expression
``generate``                       where ``grammar`` is null: Python source that sets the fields (trusted)
``accept``, ``reject``             whole outputs
``reject_policy``                  outputs refused by the default options
``expect_error``, ``may_error``    compiling must raise, or may
``max_compile_s``                  processor time
``vocab``, ``vocab_size``          token id to bytes in hex; width of the model's logits
``end_tokens``                     ids
``accept_tokens``                  id sequences that can be committed and leave a complete output
``reject_tokens``                  id sequences in which some token is not in the mask when its turn comes
=================================  ===================================================================
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..constraint import Constraint, compile_module, compile_options, select_engine
from ..errors import GrammarError, StateError
from ..ir import Builder, Module
from ..options import Optimization
from ..plugins import manager
from ..regex import Dialect, compile_regex
from ..vocab import Vocab
from .checks import parse
from .conformance import byte_vocab

LISTS = ("accept", "reject", "reject_policy", "accept_tokens", "reject_tokens", "end_tokens")


def load_cases(folder: Path) -> list[dict[str, Any]]:
    """All cases of a folder, by file name; none when there is no such folder."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def run_case(
    case: Mapping[str, Any], options: Mapping[str, Any] = {}, engine: str | None = None
) -> Sequence[Constraint]:
    """Compile a case and try its outputs.

    Args:
        case: see the table of this module. Fields that are not listed there are ignored.
        options: of the front-end.
        engine: name of the engine; None for the best installed one.

    Returns:
        What was compiled: for texts, and for the vocabulary of the case if it has one. Nothing when
        compiling raised and was expected to.

    Raises:
        AssertionError: what does not hold.
    """
    case = dict(case)
    if case["grammar"] is None and "generate" in case:
        made: dict[str, Any] = {}
        exec(case["generate"], made)
        case.update((key, made[key]) for key in ("grammar", "accept", "reject") if key in made)
    lists = {name: case.get(name) or () for name in LISTS}
    started = time.process_time()
    try:
        module = _module(case["format"], case["grammar"], options)
        constraint = _compile(module, byte_vocab(), (), engine)
    except GrammarError:
        assert case.get("expect_error") or case.get("may_error"), "compiling raised"
        return ()
    spent = time.process_time() - started
    assert not case.get("expect_error"), "compiling had to raise and did not"
    assert spent <= case.get("max_compile_s", spent), f"compiling took {spent:.1f} s, over {case['max_compile_s']} s"
    for text in lists["accept"]:
        assert constraint.accepts(text), f"refused: {text!r}"
    for text in (*lists["reject"], *lists["reject_policy"]):
        assert not constraint.accepts(text), f"accepted: {text!r}"
    if "vocab" not in case:
        return (constraint,)
    vocab = Vocab.from_id_to_bytes({int(i): bytes.fromhex(text) for i, text in case["vocab"].items()})
    tokens = _compile(module, vocab, tuple(lists["end_tokens"]), engine)
    size = max(case.get("vocab_size", 0), tokens.width)
    for ids in lists["accept_tokens"]:
        _follow(tokens, ids, size, True)
    for ids in lists["reject_tokens"]:
        _follow(tokens, ids, size, False)
    return constraint, tokens


def _module(format_: str, grammar: Any, options: Mapping[str, Any]) -> Module:
    if format_ != "regex":
        return parse(manager().frontend(format_), grammar, **options).module
    builder = Builder()
    return builder.build(builder.terminal(compile_regex(grammar, builder, dialect=Dialect.GLRM)))


def _compile(module: Module, vocab: Vocab, end_tokens: tuple[int, ...], engine: str | None) -> Constraint:
    settings = compile_options(vocab, end_tokens, Optimization.FAST_BUILD, None, False, None)
    return compile_module(module, vocab, settings, select_engine(settings, engine), (), (), 0.0)


def _follow(constraint: Constraint, ids: Sequence[int], size: int, wanted: bool) -> None:
    """Commit tokens as far as the masks allow; commits must agree with them."""
    state = constraint.start()
    for at, token in enumerate(ids):
        allowed = bool(state.mask(size)[token])
        try:
            state.commit_token(token)
            assert allowed, f"tokens {ids}: number {at} was committed though its bit is 0"
        except StateError:
            assert not allowed, f"tokens {ids}: number {at} was refused though its bit is 1"
            assert not wanted, f"tokens {ids}: number {at} is not allowed"
            return
    assert wanted == state.is_accepting(), f"tokens {ids}: complete {state.is_accepting()}, expected {wanted}"
