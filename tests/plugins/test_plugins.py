"""Plug-in discovery with fake distributions: isolation, versions, duplicates, switches, selection."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glrmask
from glrmask import Optimization, ParserBackend, PluginError, UnknownFormatError
from glrmask_core.plugins import PluginManager
from glrmask_core.protocols import API_OLDEST, API_VERSION

PLUGIN = """
from glrmask_core.hookspecs import hookimpl
from glrmask_core.protocols import EngineCapabilities

class Frontend:
    api_version = 1
    def __init__(self, name):
        self.name = name
    def prepare(self, source, options):
        return source
    def parse(self, text, options):
        raise NotImplementedError

class Engine:
    api_version = 1
    def __init__(self, name, priority=0, **capabilities):
        self.name, self.priority, self.capabilities = name, priority, EngineCapabilities(**capabilities)
    def compile(self, *arguments): ...
    compile_program = load = purge = compile
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """``site(distribution, module, code, version=..., name=...)`` installs a fake plug-in."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def install(distribution: str, module: str, code: str, version: str = "1.0", name: str | None = None) -> None:
        (tmp_path / f"{module}.py").write_text(PLUGIN + textwrap.dedent(code))
        info = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        with (info / "entry_points.txt").open("a") as file:
            file.write(f"[glrmask]\n{name or module} = {module}\n")

    yield install
    for added in set(sys.modules) - before:
        if getattr(sys.modules[added], "__file__", None) and str(tmp_path) in str(sys.modules[added].__file__):
            del sys.modules[added]


@pytest.fixture
def manager(site: Any, tmp_path: Path) -> Any:
    """``manager(**environment)``: sees the fake plug-ins only."""

    def make(**environ: str) -> PluginManager:
        entries: list[importlib.metadata.EntryPoint] = []
        for distribution in importlib.metadata.distributions(path=[str(tmp_path)]):
            entries += [e for e in distribution.entry_points if e.group == "glrmask"]
        return PluginManager(entries, environ)

    return make


FRONTEND = """
@hookimpl
def glrmask_register_frontends():
    return [Frontend("{0}")]
"""
ENGINE = """
@hookimpl
def glrmask_register_engines():
    return [Engine({0})]
"""


def test_discovery(site: Any, manager: Any) -> None:
    site("acme-gbnf", "acme_gbnf", FRONTEND.format("gbnf") + ENGINE.format('"fast"'), version="2.3")
    found = manager()
    (plugin,) = found.plugins()
    assert ("acme_gbnf", "acme-gbnf", "2.3", ("gbnf",), ("fast",), "") == (
        plugin.name,
        plugin.distribution,
        plugin.version,
        plugin.frontends,
        plugin.engines,
        plugin.error,
    )
    assert ["gbnf"] == list(found.frontends()) and ["fast"] == list(found.engines())
    assert "gbnf" == found.frontend("GBNF").name
    assert "acme-gbnf 2.3" == found.frontend_origin("gbnf") == found.engine_origin("fast")
    with pytest.raises(TypeError):
        found.frontends()["other"] = None


def test_nothing_is_loaded_before_the_first_look_up(site: Any, manager: Any) -> None:
    site("acme-a", "acme_lazy", FRONTEND.format("a"))
    found = manager()
    assert "acme_lazy" not in sys.modules and () == found.loaded_engines()
    found.plugins()
    assert "acme_lazy" in sys.modules


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise RuntimeError('no GPU')", "RuntimeError: no GPU"),
        ("import a_package_that_is_not_there", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("def broken(:", "SyntaxError"),
        ("@hookimpl\ndef glrmask_register_frontends():\n    raise KeyError('x')", "KeyError"),
        ("@hookimpl\ndef glrmask_register_frontends():\n    return [3]", "has no name"),
        ("@hookimpl\ndef glrmask_register_frontends(too, many):\n    return []", "PluginValidationError"),
        (
            "class Half:\n    name, api_version = 'half', 1\n" + ENGINE.format("").replace("Engine()", "Half()"),
            "lacks compile",
        ),
        ("class Odd:\n    name = 'odd'\n" + ENGINE.format("").replace("Engine()", "Odd()"), "declares no api_version"),
    ],
)
def test_a_broken_plugin_is_named_and_the_rest_work(site: Any, manager: Any, code: str, message: str) -> None:
    site("acme-good", "acme_good", FRONTEND.format("good"))
    site("acme-bad", "acme_bad", code, version="0.7")
    found = manager()
    assert ["good"] == list(found.frontends()) and {} == dict(found.engines())
    bad, good = found.plugins()
    assert ("acme-bad", "0.7", "") == (bad.distribution, bad.version, good.error)
    assert message in bad.error and isinstance(bad.exception, BaseException)


def test_a_failed_plugin_is_remembered_in_the_error(site: Any, manager: Any) -> None:
    site("glrmask-frontend-lark", "acme_lark", "raise RuntimeError('boom')", version="9.1")
    with pytest.raises(UnknownFormatError, match=r"glrmask-frontend-lark 9.1 is installed but not used: .*boom"):
        manager().frontend("lark")
    site("glrmask-engine-native", "acme_native", "raise RuntimeError('bang')", version="9.2")
    for name in (None, "native"):
        with pytest.raises(PluginError, match=r"glrmask-engine-native 9.2 is installed but not used: .*bang"):
            manager().engine(name=name)


@pytest.mark.parametrize("version", [API_OLDEST - 1, API_VERSION + 1])
def test_api_versions_outside_the_range(site: Any, manager: Any, version: int) -> None:
    site("acme-old", "acme_old", FRONTEND.format("x") + f"\nFrontend.api_version = {version}\n", version="4.5")
    found = manager()
    (plugin,) = found.plugins()
    assert {} == dict(found.frontends())
    for part in ("acme-old 4.5", f"plug-in API {version}", f"accepts {API_OLDEST} to {API_VERSION}", "upgrade"):
        assert part in plugin.error
    assert ("glrmask-core" if version > API_VERSION else "upgrade acme-old") in plugin.error


def test_two_plugins_for_one_name(site: Any, manager: Any) -> None:
    site("acme-one", "acme_one", FRONTEND.format("gbnf") + ENGINE.format('"fast", 5'))
    site("acme-two", "acme_two", FRONTEND.format("GB-NF") + ENGINE.format('"fast", 7'), version="2.0")
    found = manager()
    with pytest.raises(PluginError, match=r"acme-one 1.0 and by acme-two 2.0.*GLRMASK_DISABLE_PLUGINS"):
        found.frontend("gbnf")
    for name in (None, "fast"):
        with pytest.raises(PluginError, match=r"acme-one 1.0 and by acme-two 2.0"):
            found.engine(name=name)
    assert ["", True] == [found.plugins()[0].error, "provided by" in found.plugins()[1].error]
    assert "gbnf" == manager(GLRMASK_DISABLE_PLUGINS="acme-two").frontend("gbnf").name


def test_a_distribution_seen_twice_counts_once(site: Any, manager: Any, tmp_path: Path) -> None:
    site("acme-one", "acme_twice", FRONTEND.format("gbnf"))
    entries = [e for d in importlib.metadata.distributions(path=[str(tmp_path)] * 2) for e in d.entry_points]
    assert 2 == len(entries)
    found = PluginManager(entries, {})
    assert 1 == len(found.plugins()) and "gbnf" == found.frontend("gbnf").name


@pytest.mark.parametrize("value", ["acme_one", "acme-one", "x, acme_one ,y", "*"])
def test_disabling(site: Any, manager: Any, value: str) -> None:
    site("acme-one", "acme_one", "raise RuntimeError('never imported')")
    (plugin,) = manager(GLRMASK_DISABLE_PLUGINS=value).plugins()
    assert "disabled by GLRMASK_DISABLE_PLUGINS" == plugin.error
    assert "acme_one" not in sys.modules


@pytest.mark.parametrize(("value", "traced"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_tracing(site: Any, manager: Any, capsys: pytest.CaptureFixture[str], value: str, traced: bool) -> None:
    site("acme-one", "acme_one", FRONTEND.format("gbnf") + ENGINE.format('"fast"'))
    site("acme-two", "acme_two", "raise RuntimeError('boom')")
    manager(GLRMASK_TRACE_PLUGINS=value).plugins()
    shown = capsys.readouterr().err
    for part in ("glrmask_register_frontends -> gbnf", "glrmask_register_engines -> fast", "acme_two", "boom"):
        assert traced == (part in shown)


@pytest.mark.parametrize("format", ["glrm", "ebnf", "lark", "jsonschema", "json_schema"])
def test_the_package_of_a_known_format_is_named(manager: Any, format: str) -> None:
    package = f"glrmask-frontend-{format.replace('_', '')}"
    with pytest.raises(
        UnknownFormatError, match=f'no front-end for "{format}" \\(installed: none\\). Install "{package}"'
    ):
        manager().frontend(format)


def test_unknown_formats_list_what_is_installed(site: Any, manager: Any) -> None:
    site("acme-one", "acme_one", FRONTEND.format("gbnf"))
    with pytest.raises(UnknownFormatError, match="installed: gbnf"):
        manager().frontend("nope")


# -- engines --------------------------------------------------------------------------------------------------


def test_the_native_engine_is_named(manager: Any) -> None:
    for name in (None, "native"):
        with pytest.raises(PluginError, match=r'installed: none\). Install "glrmask-engine-native"'):
            manager().engine(name=name)


def test_the_highest_priority_that_fits_wins(site: Any, manager: Any) -> None:
    code = """
    @hookimpl
    def glrmask_register_engines():
        from glrmask_core.options import Optimization, ParserBackend
        return [
            Engine("low", 1),
            Engine("static", 9, optimizations=frozenset({Optimization.FAST_RUNTIME})),
            Engine("tables", 5, parser_backends=frozenset({ParserBackend.LR_TABLE})),
            Engine("programs", 0, programs=True),
            Engine("oracle", -5, programs=True),
        ]
    """
    site("acme-engines", "acme_engines", code)
    found = manager()
    assert "low" == found.engine(Optimization.AUTO).name
    assert "static" == found.engine(Optimization.FAST_RUNTIME).name == found.engine(Optimization.FAST_RUNTIME).name
    assert "tables" == found.engine(Optimization.AUTO, ParserBackend.LR_TABLE).name
    assert "programs" == found.engine(programs=True).name
    assert "oracle" == found.engine(name="oracle").name
    with pytest.raises(PluginError, match=r'engine "static" cannot do Optimization.AUTO'):
        found.engine(Optimization.AUTO, name="static")
    with pytest.raises(PluginError, match=r'engine "low" cannot do ParserBackend.LR_TABLE'):
        found.engine(parser_backend=ParserBackend.LR_TABLE, name="low")
    with pytest.raises(PluginError, match='engine "low" cannot do parser programs'):
        found.engine(programs=True, name="low")
    with pytest.raises(PluginError, match='no engine "other" \\(installed: low, oracle \\(by name only\\), programs'):
        found.engine(name="other")


def test_engines_of_negative_priority_are_taken_by_name_only(site: Any, manager: Any) -> None:
    site("acme-oracle", "acme_oracle", ENGINE.format('"oracle", -1'))
    with pytest.raises(PluginError, match=r"oracle \(by name only\)\). Install"):
        manager().engine()


def test_lr_tables_have_no_engine(site: Any, manager: Any) -> None:
    site("acme-one", "acme_one", ENGINE.format('"native", 10'))
    with pytest.raises(ValueError, match=r"LR_TABLE.*Use ParserBackend.TEMPLATE_DFA"):
        manager().engine(parser_backend=ParserBackend.LR_TABLE)


# -- by hand, and the real ones -------------------------------------------------------------------------------


def test_registering_by_hand(site: Any, manager: Any) -> None:
    site("acme-one", "acme_one", FRONTEND.format("gbnf"))
    found = manager(GLRMASK_DISABLE_PLUGINS="*")
    import acme_one  # type: ignore[import-not-found]

    record = found.register(acme_one, "mine")
    assert ("mine", ("gbnf",)) == (record.name, record.frontends) and "gbnf" == found.frontend("gbnf").name
    with pytest.raises(PluginError, match="listed twice"):
        found.register(acme_one, "again")
    with pytest.raises(PluginError, match="has no name"):

        class Odd:
            @staticmethod
            @glrmask_hookimpl()
            def glrmask_register_engines() -> list[Any]:
                return [3]

        found.register(Odd(), "odd")


def glrmask_hookimpl() -> Any:
    from glrmask_core.hookspecs import hookimpl

    return hookimpl


def test_the_oracle_comes_with_the_core() -> None:
    from glrmask_core.plugins import manager as shared

    oracle = next(p for p in shared().plugins() if p.name == "oracle")
    assert ("glrmask-core", "") == (oracle.distribution, oracle.error)
    assert shared().engines()["oracle"].priority < 0
    assert shared().engine_origin("oracle").startswith("glrmask-core ")


def test_environment_of_the_process() -> None:
    code = "import glrmask\ntry: glrmask.Grammar.from_glrm('x')\nexcept glrmask.UnknownFormatError as e: print(e)"
    env = {**os.environ, "GLRMASK_DISABLE_PLUGINS": "*"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert 'no front-end for "glrm" (installed: none).' in done.stdout


def test_a_missing_front_end_is_reported_by_the_constructor(monkeypatch: pytest.MonkeyPatch) -> None:
    from glrmask_core import plugins

    monkeypatch.setattr(plugins, "_manager", PluginManager([], {}))
    for make in ("from_glrm", "from_ebnf", "from_lark", "from_json_schema"):
        with pytest.raises(ValueError, match='Install "glrmask-frontend-'):
            getattr(glrmask.Grammar, make)("anything")
