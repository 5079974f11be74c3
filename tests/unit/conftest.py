"""A front-end for tests of the core, which must not need an installed one, and the engines that are there.

The engine "null" does nothing. The format "mini" is alternatives of words separated by ``|``. A word is a
literal terminal; ``word*`` any number of them; ``%hex`` a terminal of raw bytes; ``$NAME`` a grammar slot;
``@NAME`` a token slot; ``#id`` an exact token; ``!`` a syntax error; ``~text`` a part that is "left out". Option
``warn`` adds a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import glrmask
from glrmask_core import plugins
from glrmask_core.hookspecs import hookimpl
from glrmask_core.ir import Builder, Module
from glrmask_core.options import CompileOptions
from glrmask_core.protocols import EngineCapabilities, Parsed, option_names
from glrmask_core.source import Diagnostic, span_at


class MiniFrontend:
    name = "mini"
    api_version = 1

    def __init__(self) -> None:
        self.parses = 0

    def prepare(self, source: Any, options: Mapping[str, Any]) -> str:
        if not isinstance(source, str):
            raise glrmask.ArgumentTypeError(f"mini takes str, not {type(source).__name__}")
        option_names(options, ("warn",), "mini")
        return source

    def parse(self, text: str, options: Mapping[str, Any]) -> Parsed:
        self.parses += 1
        builder, left_out = Builder(), []
        alternatives: list[list[int]] = [[]]
        at = 0
        for word in text.split():
            at = text.index(word, at)
            if word == "|":
                alternatives.append([])
            elif word == "!":
                place = span_at(text, at)
                raise glrmask.GrammarSyntaxError(f"unexpected ! at {place}", [Diagnostic("unexpected !", place)])
            elif word[0] == "~":
                left_out.append(word[1:])
            else:
                node = self._word(builder, word)
                alternatives[-1].append(builder.mark(node, span_at(text, at, at + len(word))))
            at += len(word)
        warnings = (Diagnostic("watch out", span_at(text, 0), "warning"),) if options.get("warn") else ()
        root = builder.choice([builder.seq(parts) for parts in alternatives])
        return Parsed(builder.build(root), warnings, tuple(left_out))

    @staticmethod
    def _word(builder: Builder, word: str) -> int:
        if word[0] == "$":
            return builder.extern_grammar(word[1:])
        if word[0] == "@":
            return builder.extern_token(word[1:])
        if word[0] == "#":
            return builder.token_ids([int(word[1:])])
        if word[0] == "%":
            return builder.terminal(builder.literal(bytes.fromhex(word[1:])), word)
        if word[-1] == "*":
            return builder.repeat(builder.terminal(builder.literal(word[:-1].encode()), word[:-1]))
        return builder.terminal(builder.literal(word.encode()), word)


class NullCompiled:
    width = 8

    def start(self, max_rollback: int) -> Any:
        raise NotImplementedError

    def save(self) -> bytes:
        return b"null"

    def report(self) -> Mapping[str, Any]:
        return {}


class NullEngine:
    """Takes whatever the core hands it and does nothing: what is left is the core's own work."""

    name = "null"
    api_version = 1
    priority = -1
    capabilities = EngineCapabilities(programs=True)

    def __init__(self) -> None:
        self.purges: list[bool] = []

    def compile(self, module: Module, vocab: glrmask.Vocab, options: CompileOptions) -> NullCompiled:
        return NullCompiled()

    def compile_program(self, *arguments: Any) -> NullCompiled:
        return NullCompiled()

    def load(self, module: Module, vocab: glrmask.Vocab, options: CompileOptions, payload: bytes) -> NullCompiled:
        if payload != b"null":
            raise glrmask.ArtifactError("not what the null engine saves")
        return NullCompiled()

    def purge(self, force: bool) -> None:
        self.purges.append(force)


class MiniPlugin:
    __name__ = "mini"

    def __init__(self, frontend: MiniFrontend) -> None:
        self._frontend = frontend

    @hookimpl
    def glrmask_register_engines(self) -> list[NullEngine]:
        return [NullEngine()]

    @hookimpl
    def glrmask_register_frontends(self) -> list[MiniFrontend]:
        return [self._frontend]


@pytest.fixture(scope="module", autouse=True)
def mini() -> Iterator[MiniFrontend]:
    """The front-end, in a plug-in manager that the rest of the session never sees."""
    before, frontend = plugins._manager, MiniFrontend()
    plugins._manager = plugins.PluginManager()
    plugins._manager.register(MiniPlugin(frontend), "mini")
    yield frontend
    plugins._manager = before


@pytest.fixture(params=["oracle", "native"])
def engine(request: pytest.FixtureRequest) -> str:
    """Name of an engine; skips the native one where only the core is installed."""
    name: str = request.param
    if name not in plugins.manager().engines():
        pytest.skip(f"engine {name} is not installed")
    return name


@pytest.fixture
def grammar() -> Any:
    """``grammar(text)``: a mini grammar."""
    return lambda text, **options: glrmask.Grammar.from_source(text, format="mini", **options)


@pytest.fixture(scope="session")
def letters() -> glrmask.Vocab:
    """a b c x y z and some longer tokens; 20 is exact-only; ids are not dense."""
    texts = (b"a", b"b", b"c", b"x", b"y", b"z", b"ab", b"bc", b"abc", b"xy")
    return glrmask.Vocab.from_id_to_bytes({**dict(enumerate(texts)), 20: b"", 21: b"a"})
