"""Finds front-ends and engines among the installed packages (entry-point group ``glrmask``).

Nothing is listed or imported before the first look-up. Entry points are loaded one at a time: one that
fails is recorded with its distribution, version and exception, and the others work. Two environment
variables are read here, when the plug-ins are first listed, and nowhere else:

* ``GLRMASK_DISABLE_PLUGINS``: entry-point or distribution names, separated by commas; ``*`` for all.
* ``GLRMASK_TRACE_PLUGINS``: anything but empty and ``0`` prints to stderr who answered which hook.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from .errors import PluginError, UnknownFormatError
from .options import Optimization, ParserBackend
from .protocols import API_OLDEST, API_VERSION

if TYPE_CHECKING:
    import importlib.metadata

    import pluggy

    from .protocols import Engine, Frontend

GROUP = "glrmask"
KNOWN_FORMATS = {
    "glrm": "glrmask-frontend-glrm",
    "ebnf": "glrmask-frontend-ebnf",
    "lark": "glrmask-frontend-lark",
    "jsonschema": "glrmask-frontend-jsonschema",
}
KNOWN_ENGINES = {"native": "glrmask-engine-native"}


@dataclass(frozen=True)
class Plugin:
    """One entry point of the group, loaded or not.

    Attributes:
        name: of the entry point.
        module: what it points at.
        distribution: the package it comes with, ``""`` when registered by hand.
        version: of that package.
        frontends: formats it provides.
        engines: engines it provides.
        error: why it, or a part of it, is not used; ``""`` when all is well.
        exception: what was raised, if something was.
    """

    name: str
    module: str
    distribution: str = ""
    version: str = ""
    frontends: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    error: str = ""
    exception: BaseException | None = None

    @property
    def origin(self) -> str:
        """Distribution and version, for messages."""
        return f"{self.distribution} {self.version}".strip() or f'plug-in "{self.name}"'


@dataclass
class _Found:
    """What has been collected so far; ``owners`` tells which plug-in provides a name first."""

    provided: dict[str, Any] = field(default_factory=dict)
    owners: dict[str, Plugin] = field(default_factory=dict)
    clashes: dict[str, list[Plugin]] = field(default_factory=dict)


class PluginManager:
    """Lists, loads and selects plug-ins. Thread-safe; use the shared one, :func:`manager`.

    Args:
        entry_points: taken instead of the installed ones (tests).
        environ: taken instead of the process environment (tests).
    """

    def __init__(
        self,
        entry_points: Iterable[importlib.metadata.EntryPoint] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._entry_points = entry_points
        self._environ = environ
        self._lock = threading.RLock()
        self._loaded = False
        self._plugins: list[Plugin] = []
        self._frontends = _Found()
        self._engines = _Found()
        self._selected: dict[tuple[Optimization, ParserBackend, bool], Engine] = {}
        self._pluggy: pluggy.PluginManager | None = None
        self._trace = False

    # -- what is there ------------------------------------------------------------------------

    def plugins(self) -> tuple[Plugin, ...]:
        """Every entry point of the group, those that failed and their reasons included."""
        self._load()
        return tuple(self._plugins)

    def frontends(self) -> Mapping[str, Frontend]:
        """Usable front-ends by format."""
        self._load()
        return MappingProxyType(self._frontends.provided)

    def engines(self) -> Mapping[str, Engine]:
        """Usable engines by name."""
        self._load()
        return MappingProxyType(self._engines.provided)

    def loaded_engines(self) -> tuple[Engine, ...]:
        """The engines, without looking for any when nothing was looked up yet."""
        return tuple(self._engines.provided.values()) if self._loaded else ()

    def frontend_origin(self, format: str) -> str:
        """Distribution and version behind a format."""
        self._load()
        return self._frontends.owners[format_key(format)].origin

    def engine_origin(self, name: str) -> str:
        """Distribution and version behind an engine."""
        self._load()
        return self._engines.owners[name].origin

    # -- selecting ----------------------------------------------------------------------------

    def frontend(self, format: str) -> Frontend:
        """The front-end of a format; ``json_schema``, ``json-schema`` and ``jsonschema`` are one name.

        Raises:
            UnknownFormatError: none is installed; the message names the package to install when it is known.
            PluginError: two plug-ins provide it.
        """
        self._load()
        key = format_key(format)
        found: Frontend | None = self._frontends.provided.get(key)
        if found is not None:
            return found
        if key in self._frontends.clashes:
            raise PluginError(_clash("front-end", key, self._frontends.clashes[key]))
        installed = ", ".join(sorted(self._frontends.provided)) or "none"
        advice = f'Install "{KNOWN_FORMATS[key]}".' if key in KNOWN_FORMATS else "Is its package installed?"
        advice = self._failure(KNOWN_FORMATS.get(key), key) or advice
        raise UnknownFormatError(f'no front-end for "{format}" (installed: {installed}). {advice}')

    def engine(
        self,
        optimization: Optimization = Optimization.AUTO,
        parser_backend: ParserBackend = ParserBackend.TEMPLATE_DFA,
        name: str | None = None,
        programs: bool = False,
    ) -> Engine:
        """The engine to compile with.

        A name wins; else, among the engines that can do what is asked, the highest priority. Engines of
        negative priority (the oracle) are only taken by name.

        Raises:
            PluginError: none fits; the message lists what is installed and what to install.
        """
        wanted = (optimization, parser_backend, programs)
        if name is None:
            found = self._selected.get(wanted)
            if found is not None:
                return found
        self._load()
        if name is not None:
            return self._named_engine(name, *wanted)
        fitting = [e for e in self._engines.provided.values() if e.priority >= 0 and not lacks(e, *wanted)]
        if not fitting:
            raise PluginError(self._no_engine(*wanted))
        best = max(e.priority for e in fitting)
        names = sorted(e.name for e in fitting if e.priority == best)
        engine: Engine = self._engines.provided[names[0]]
        self._selected[wanted] = engine
        return engine

    def _named_engine(
        self, name: str, optimization: Optimization, parser_backend: ParserBackend, programs: bool
    ) -> Engine:
        engine: Engine | None = self._engines.provided.get(name)
        if engine is None:
            if name in self._engines.clashes:
                raise PluginError(_clash("engine", name, self._engines.clashes[name]))
            known = KNOWN_ENGINES.get(name)
            advice = self._failure(known, name) or (f'Install "{known}".' if known else "Is its package installed?")
            raise PluginError(f'no engine "{name}" (installed: {self._engine_list()}). {advice}')
        missing = lacks(engine, optimization, parser_backend, programs)
        if missing:
            raise PluginError(f'engine "{name}" cannot do {missing} (installed: {self._engine_list()})')
        return engine

    def _no_engine(self, optimization: Optimization, parser_backend: ParserBackend, programs: bool) -> str:
        asked = f"{optimization} with {parser_backend}" + (" for a parser program" if programs else "")
        text = f"no engine for {asked} (installed: {self._engine_list()})."
        if parser_backend is ParserBackend.LR_TABLE:
            return text + " Use ParserBackend.TEMPLATE_DFA."
        if self._engines.clashes:
            return text + " " + " ".join(_clash("engine", n, p) for n, p in sorted(self._engines.clashes.items()))
        if "native" in self._engines.provided:
            return text
        advice = self._failure(KNOWN_ENGINES["native"], "native") or f'Install "{KNOWN_ENGINES["native"]}".'
        return f"{text} {advice}"

    def _engine_list(self) -> str:
        names = (
            f"{e.name}" + (" (by name only)" if e.priority < 0 else "")
            for e in sorted(self._engines.provided.values(), key=lambda e: str(e.name))
        )
        return ", ".join(names) or "none"

    def _failure(self, distribution: str | None, name: str) -> str:
        """Why a plug-in that should provide ``name`` does not; ``""`` when it is not there at all."""
        for plugin in self._plugins:
            if plugin.error and (plugin.name == name or (distribution and plugin.distribution == distribution)):
                return f"{plugin.origin} is installed but not used: {plugin.error}"
        return ""

    # -- loading ------------------------------------------------------------------------------

    def register(self, plugin: object, name: str = "registered by hand") -> Plugin:
        """Add a plug-in object with hook implementations to those found.

        Raises:
            PluginError: it cannot be used.
        """
        self._load()
        with self._lock:
            record = self._add(plugin, Plugin(name, getattr(plugin, "__name__", type(plugin).__name__)))
            self._plugins.append(record)
            self._selected.clear()
        if record.error:
            raise PluginError(f'plug-in "{name}": {record.error}') from record.exception
        return record

    def _load(self) -> None:
        if self._loaded:
            return
        with self._lock:
            if self._loaded:
                return
            environ = os.environ if self._environ is None else self._environ
            disabled = {n.strip() for n in environ.get("GLRMASK_DISABLE_PLUGINS", "").split(",") if n.strip()}
            self._trace = environ.get("GLRMASK_TRACE_PLUGINS", "") not in ("", "0")
            for entry in _installed() if self._entry_points is None else _ordered(self._entry_points):
                self._plugins.append(self._load_entry(entry, disabled))
            self._loaded = True

    def _load_entry(self, entry: importlib.metadata.EntryPoint, disabled: set[str]) -> Plugin:
        distribution, version = _origin(entry)
        plugin = Plugin(entry.name, entry.value, distribution, version)
        if disabled & {"*", entry.name, distribution}:
            self._say(plugin, "disabled")
            return _with(plugin, "disabled by GLRMASK_DISABLE_PLUGINS")
        try:
            loaded = entry.load()
        except (Exception, SystemExit) as error:
            self._say(plugin, f"failed to import: {error!r}")
            return _with(plugin, f"importing {entry.value} failed: {type(error).__name__}: {error}", error)
        return self._add(loaded, plugin)

    def _add(self, loaded: object, plugin: Plugin) -> Plugin:
        """Ask one plug-in what it provides, and take that in; returns its record."""
        try:
            frontends, engines = self._ask(loaded, plugin)
            for part in (*frontends, *engines):
                _check_api(part, plugin)
            for frontend in frontends:
                _check_part(frontend, ("prepare", "parse"))
            for engine in engines:
                _check_part(engine, ("compile", "compile_program", "load", "purge", "priority", "capabilities"))
        except (Exception, SystemExit) as error:
            self._say(plugin, f"not used: {error!r}")
            text = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
            return _with(plugin, text, error)
        plugin = Plugin(
            plugin.name,
            plugin.module,
            plugin.distribution,
            plugin.version,
            tuple(format_key(f.name) for f in frontends),
            tuple(e.name for e in engines),
        )
        clashes = [self._take(self._frontends, format_key(f.name), f, plugin, "front-end") for f in frontends]
        clashes += [self._take(self._engines, e.name, e, plugin, "engine") for e in engines]
        return _with(plugin, " ".join(filter(None, clashes)))

    def _ask(self, loaded: object, plugin: Plugin) -> tuple[list[Frontend], list[Engine]]:
        """What the hooks of one plug-in return."""
        if self._pluggy is None:
            import pluggy

            from . import hookspecs

            self._pluggy = pluggy.PluginManager(hookspecs.PROJECT)
            self._pluggy.add_hookspecs(hookspecs)
        manager = self._pluggy
        others = list(manager.get_plugins())
        if loaded in others:
            raise PluginError(f"{plugin.module} is listed twice")
        manager.register(loaded)
        answers: list[list[Any]] = []
        try:
            for hook in ("glrmask_register_frontends", "glrmask_register_engines"):
                caller = manager.subset_hook_caller(hook, remove_plugins=others)
                answer = [part for parts in caller() for part in parts]
                if answer:
                    self._say(plugin, f"{hook} -> {', '.join(str(getattr(part, 'name', part)) for part in answer)}")
                answers.append(answer)
        except BaseException:
            manager.unregister(loaded)
            raise
        return answers[0], answers[1]

    def _take(self, found: _Found, name: str, part: object, plugin: Plugin, what: str) -> str:
        """Take one front-end or engine in; returns what is wrong with that, or ``""``."""
        first = found.owners.get(name)
        if first is None:
            found.owners[name] = plugin
            found.provided[name] = part
            return ""
        found.provided.pop(name, None)
        rivals = found.clashes.setdefault(name, [first])
        rivals.append(plugin)
        return _clash(what, name, rivals)

    def _say(self, plugin: Plugin, what: str) -> None:
        if self._trace:
            print(f"glrmask plug-in {plugin.name} ({plugin.origin}): {what}", file=sys.stderr)


_manager = PluginManager()


def manager() -> PluginManager:
    """The plug-ins of this process."""
    return _manager


def format_key(format: str) -> str:
    """A format's name without case, hyphens and underscores."""
    return format.lower().replace("_", "").replace("-", "")


def lacks(engine: Engine, optimization: Optimization, parser_backend: ParserBackend, programs: bool) -> str:
    """What an engine cannot do of this; ``""`` when it can do all."""
    capabilities = engine.capabilities
    if optimization not in capabilities.optimizations:
        return str(optimization)
    if parser_backend not in capabilities.parser_backends:
        return str(parser_backend)
    return "parser programs" if programs and not capabilities.programs else ""


def _installed() -> list[importlib.metadata.EntryPoint]:
    import importlib.metadata

    return _ordered(importlib.metadata.entry_points(group=GROUP))


def _ordered(entries: Iterable[importlib.metadata.EntryPoint]) -> list[importlib.metadata.EntryPoint]:
    """Sorted, and each once: a distribution may be seen twice (a checkout on the path of its own install)."""
    distinct = {(_origin(e)[0], e.name, e.value): e for e in entries}
    return [distinct[key] for key in sorted(distinct)]


def _origin(entry: importlib.metadata.EntryPoint) -> tuple[str, str]:
    dist = entry.dist
    return (dist.name or "", dist.version or "") if dist is not None else ("", "")


def _with(plugin: Plugin, error: str, exception: BaseException | None = None) -> Plugin:
    from dataclasses import replace

    return replace(plugin, error=error, exception=exception)


def _clash(what: str, name: str, rivals: list[Plugin]) -> str:
    return (
        f'{what} "{name}" is provided by {" and by ".join(p.origin for p in rivals)}; '
        "uninstall one, or name one in GLRMASK_DISABLE_PLUGINS."
    )


def _check_api(part: Any, plugin: Plugin) -> None:
    if not isinstance(getattr(part, "name", None), str):
        raise PluginError(f"{plugin.origin} registers {part!r}, which has no name")
    version = getattr(part, "api_version", None)
    if not isinstance(version, int):
        raise PluginError(f'{plugin.origin}: "{part.name}" declares no api_version')
    if not API_OLDEST <= version <= API_VERSION:
        whom = "glrmask-core" if version > API_VERSION else plugin.distribution or plugin.name
        raise PluginError(
            f'{plugin.origin}: "{part.name}" is written for plug-in API {version}, this core accepts '
            f"{API_OLDEST} to {API_VERSION}; upgrade {whom}"
        )


def _check_part(part: Any, needed: tuple[str, ...]) -> None:
    missing = [n for n in needed if not hasattr(part, n)]
    if missing:
        raise PluginError(f'"{part.name}" lacks {", ".join(missing)}')
