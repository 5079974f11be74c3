"""Checks of names that need no trees: imports that exist, duplicates, undefined names, circular terminals."""

from __future__ import annotations

import functools
import pkgutil
import re

from glrmask_core.grammar_text import did_you_mean
from glrmask_core.source import Diagnostic

from .scanned import Definition, Scanned
from .tokens import Token


@functools.cache
def bundled_names(grammar: str) -> frozenset[str]:
    """The names that one of lark's own grammars defines; empty if this lark does not have it."""
    data = pkgutil.get_data("lark", f"grammars/{grammar}.lark")
    heads = re.findall(r"^[?!]*([A-Za-z_]\w*)(?:\{[^}]*\})?(?:\.\d+)?\s*:", (data or b"").decode(), re.MULTILINE)
    return frozenset(heads)


def check_names(scanned: Scanned) -> None:
    """Raise ``GrammarError`` for the first kind of fault found, with all its places."""
    _check_imports(scanned)
    _check_duplicates(scanned)
    _check_undefined(scanned)


def _check_imports(scanned: Scanned) -> None:
    aliases: dict[tuple[str, str], str] = {}
    sources: dict[str, tuple[str, str]] = {}
    for item in scanned.imports:
        source = (item.grammar, item.name)
        if aliases.setdefault(source, item.alias) != item.alias:
            message = (
                f'"{item.name}" is imported as "{aliases[source]}" and as "{item.alias}"; lark keeps one name only'
            )
            raise scanned.report.meaning(message, item.token.start, item.token.end)
        if sources.setdefault(item.alias, source) != source:
            message = f'"{item.alias}" is imported twice, from {".".join(sources[item.alias])} and {".".join(source)}'
            raise scanned.report.meaning(message, item.token.start, item.token.end)
        names = bundled_names(item.grammar)
        if item.name not in names:
            raise scanned.report.meaning(
                f'"{item.grammar}" has no "{item.name}"{did_you_mean(item.name, sorted(names))}',
                item.token.start,
                item.token.end,
            )


def _check_duplicates(scanned: Scanned) -> None:
    first: dict[str, Token] = {}
    for item in scanned.imports:
        first.setdefault(item.alias, item.token)
    for token in scanned.declared:
        _once(scanned, first, token.value, token)
    for definition in scanned.definitions:
        if definition.how == "define":
            _once(scanned, first, definition.name, definition.token)
    for definition in scanned.definitions:
        if definition.how != "define" and definition.name not in first:
            raise scanned.report.meaning(
                f'cannot {definition.how} "{definition.token.value}", which is not defined'
                + did_you_mean(definition.name, first),
                definition.token.start,
                definition.token.end,
            )


def _once(scanned: Scanned, first: dict[str, Token], name: str, token: Token) -> None:
    before = first.setdefault(name, token)
    if before is not token:
        place = scanned.report.lines.span(before.start)
        raise scanned.report.meaning(
            f'"{token.value}" is defined twice, first at {place}; use | for alternatives, or %override or %extend',
            token.start,
            token.end,
        )


def _check_undefined(scanned: Scanned) -> None:
    known = {definition.token.value for definition in scanned.definitions}
    known |= {item.alias for item in scanned.imports} | {token.value for token in scanned.declared}
    findings = []
    for definition in scanned.definitions:
        params = {token.value for token in definition.params}
        what = f'in {"terminal" if definition.is_terminal else "rule"} "{definition.token.value}"'
        findings += [
            _undefined(scanned, token, known | params, what)
            for token in definition.uses
            if token.value not in known and token.value not in params
        ]
    findings += [
        _undefined(scanned, token, known, "in %ignore") for token in scanned.ignored if token.value not in known
    ]
    if findings:
        raise scanned.report.several(sorted(findings, key=_offset))


def _undefined(scanned: Scanned, token: Token, known: set[str], what: str) -> Diagnostic:
    kind = "terminal" if token.value.lstrip("_")[:1].isupper() else "rule"
    message = f'undefined {kind} "{token.value}" {what}{did_you_mean(token.value, sorted(known))}'
    return Diagnostic(message, scanned.report.lines.span(token.start, token.end))


def _offset(finding: Diagnostic) -> int:
    return getattr(finding.place, "start", 0)


def terminal_order(scanned: Scanned) -> list[str]:
    """Terminals that the source defines, each after those it refers to.

    Raises:
        GrammarError: a terminal that refers to itself, with the way round.
    """
    bodies: dict[str, list[Definition]] = {}
    for definition in scanned.definitions:
        if definition.is_terminal:
            if definition.how == "override":
                bodies[definition.name] = []
            bodies.setdefault(definition.name, []).append(definition)
    order: list[str] = []
    done: set[str] = set()
    for root in bodies:
        stack, active = [(root, _references(bodies, root))], {root: None}
        while stack:
            name, uses = stack[-1]
            token = uses.pop() if uses else None
            if name in done or token is None:
                stack.pop()
                active.pop(name, None)
                if name not in done:
                    done.add(name)
                    order.append(name)
            elif token.value in active:
                way = [*active][[*active].index(token.value) :]
                shown = " -> ".join([*way[:5], *(["..."] if len(way) > 5 else []), token.value])
                raise scanned.report.meaning(
                    f'terminal "{token.value}" refers to itself ({shown}); only rules may be recursive',
                    token.start,
                    token.end,
                )
            elif token.value in bodies and token.value not in done:
                active[token.value] = None
                stack.append((token.value, _references(bodies, token.value)))
    return order


def _references(bodies: dict[str, list[Definition]], name: str) -> list[Token]:
    return [token for definition in bodies[name] for token in reversed(definition.uses)]
