"""Typed programs against the public API, checked by ``mypy --strict`` (tox -e type), never run.

A ``type: ignore`` here is an assertion too: strict mode complains when the line turns out to be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import glrmask
from glrmask.model import DefaultModel, default_model
from glrmask_core.errors import GrammarError, LimitExceededError
from glrmask_core.hookspecs import hookimpl
from glrmask_core.ir import Builder
from glrmask_core.protocols import API_VERSION, Frontend, Parsed
from glrmask_core.source import Diagnostic


def vocabularies() -> glrmask.Vocab:
    by_bytes: dict[bytes, int] = {b"a": 0}
    vocab: glrmask.Vocab = glrmask.Vocab.from_dict(by_bytes)
    by_id: Mapping[int, bytes] = {0: b"a"}
    vocab = glrmask.Vocab.from_id_to_bytes(by_id)
    token: glrmask.ExactToken = vocab.token(0)
    tokens: glrmask.ExactTokens = vocab.tokens([0])
    number: int = token.id
    numbers: list[int] = tokens.ids
    assert number in numbers and len(vocab) == 1
    glrmask.Vocab.from_dict({"a": 0})  # type: ignore[dict-item]
    return vocab


def grammars(vocab: glrmask.Vocab) -> glrmask.Constraint:
    grammar: glrmask.Grammar = glrmask.Grammar.from_json_schema({"type": "object"})
    grammar = glrmask.Grammar.from_source("...", format="ebnf")
    grammar = glrmask.Grammar.from_glrm("...").bind("a", grammar).bind("b", vocab.token(0))
    constraint: glrmask.Constraint = grammar.compile(
        vocab,
        end_tokens=[1, 2],
        optimization=glrmask.Optimization.FAST_RUNTIME,
        parser_backend=glrmask.ParserBackend.TEMPLATE_DFA,
        engine="native",
        limits=glrmask.Limits(build_seconds=1.5),
    )
    unlinked: glrmask.UnlinkedConstraint = grammar.compile_unlinked(vocab)
    data: bytes = unlinked.bind("c", constraint).save()
    linked: glrmask.Constraint = glrmask.UnlinkedConstraint.load(data, vocab=vocab).link(end_tokens=[1])
    grammar.compile(vocab, optimization="auto")  # type: ignore[arg-type]
    grammar.compile(vocab, [1])  # type: ignore[call-arg]
    return glrmask.Constraint.load(linked.save_with_external_vocab(), vocab)


def decode(constraint: glrmask.Constraint) -> list[int]:
    state: glrmask.ConstraintState = constraint.start()
    words: npt.NDArray[np.uint32] = np.zeros(constraint.mask_len(), np.uint32)
    written: list[int] = []
    while not state.is_terminated():
        state.fill_mask(words)
        mask: npt.NDArray[np.bool_] = state.mask()
        state.commit_token(int(np.argmax(mask)))
        written += state.forced()
    copy: glrmask.ConstraintState = state.clone()
    copy.rollback(1)
    state.commit_bytes("text")  # type: ignore[arg-type]
    finished: bool = state.is_accepting() and not state.is_rejected()
    completion: bytes = state.shortest_completion()
    return written if finished and completion else []


def failures() -> str:
    try:
        grammars(vocabularies())
    except LimitExceededError as error:
        return error.limit
    except GrammarError as error:
        found: tuple[Diagnostic, ...] = error.diagnostics
        return found[0].render("text")
    return ""


def model() -> npt.NDArray[np.float64]:
    embedded: DefaultModel = default_model()
    ids: list[int] = embedded.encode("text")
    text: bytes = embedded.decode(ids)
    return embedded.probabilities(ids if text else [])


class MyFrontend:
    """A front-end fits the protocol without inheriting from it."""

    name = "mine"
    api_version = API_VERSION

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        return str(source)

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        builder = Builder()
        return Parsed(builder.build(builder.terminal(builder.literal(text.encode()))))


@hookimpl
def glrmask_register_frontends() -> list[Frontend]:
    return [MyFrontend()]
