"""Templates: one rule per name and arguments, made when first used, with a limit.

Bodies wait in a queue, so a template that uses itself with the same arguments is ordinary recursion and one
whose arguments grow (``f{x}: x f{f{x}}``) runs into the limit instead of the Python stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

from glrmask_core.ir import Builder

from .scanned import Scanned

MAX_INSTANCES = 10_000
MAX_WORK = 500_000  # tree nodes lowered in bodies of instances


class TemplateName(NamedTuple):
    """A template given as an argument, to be used with arguments of its own."""

    name: str


Argument = Union[int, TemplateName]


class Instance(NamedTuple):
    """A body still to be lowered."""

    rule: int
    tree: Any
    arguments: Mapping[str, Argument]
    name: str


class Templates:
    """Instances of the templates of one grammar."""

    def __init__(
        self, scanned: Scanned, rules: Mapping[str, tuple[tuple[str, ...], Any]], builder: Builder, todo: list[Instance]
    ) -> None:
        self._scanned = scanned
        self._rules = rules
        self._builder = builder
        self._todo = todo
        self._made: dict[tuple[str, tuple[Argument, ...]], int] = {}
        self._work = 0
        self._heads = {definition.name: definition.token for definition in reversed(scanned.definitions)}

    def use(self, name: str, arguments: tuple[Argument, ...]) -> int:
        """The node that calls this instance.

        Raises:
            GrammarError: too many instances, wrong number of arguments, not a template.
        """
        params, tree = self._rules.get(name, ((), None))
        shown = self._scanned.shown(name)
        if len(params) != len(arguments) or tree is None:
            found = f"expected {len(params)} arguments, found {len(arguments)}" if params else "it is not a template"
            raise self._error(f'"{shown}" cannot be used like this: {found}', name)
        key = (name, arguments)
        rule = self._made.get(key)
        if rule is None:
            if len(self._made) >= MAX_INSTANCES:
                raise self._error(
                    f'template "{shown}" is used with more than {MAX_INSTANCES:,} different arguments; '
                    "does it use itself with growing ones?",
                    name,
                )
            rule = self._made[key] = self._builder.rule(f"{shown}{{{len(self._made)}}}")
            self._todo.append(Instance(rule, tree, dict(zip(params, arguments, strict=True)), name))
        return rule

    def count(self, name: str, nodes: int) -> None:
        """Account for the work of one instance."""
        self._work += nodes
        if self._work > MAX_WORK:
            raise self._error(f'templates such as "{self._scanned.shown(name)}" expand to too much', name)

    def _error(self, message: str, name: str) -> Exception:
        token = self._heads.get(name)
        return self._scanned.report.meaning(message, token and token.start, token and token.end)
