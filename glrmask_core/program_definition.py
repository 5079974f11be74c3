"""Reading the definition of a parser program: JSON or a mapping, checked in full and copied."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .errors import ArgumentTypeError, GrammarError, LimitExceededError

MAX_TEXT = 64 << 20  # bytes of a definition
MAX_SYMBOLS = 1 << 20
MAX_STATES = 1 << 20  # of all graphs together
MAX_EDGES = 1 << 22
GRAPHS = ("pop", "read", "push")
LINKS = (("pop_to_read", "pop", "read"), ("pop_to_push", "pop", "push"), ("read_to_push", "read", "push"))
_TEMPLATE = (*GRAPHS, *(name for name, _, _ in LINKS))


def read_definition(definition: Any) -> dict[str, Any]:
    """A checked copy of a definition, whose form is in :mod:`glrmask_core.program`.

    Raises:
        ArgumentTypeError: neither JSON text nor a mapping of JSON values.
        GrammarError: naming the place in the definition.
        LimitExceededError: too large.
    """
    return _Checker().definition(_read(definition))


def _read(definition: Any) -> Any:
    """The definition as fresh plain data."""
    if isinstance(definition, str):
        text = definition
    elif isinstance(definition, Mapping):
        try:
            text = json.dumps(definition, default=_plain)
        except TypeError as error:
            raise ArgumentTypeError(f"the definition is not JSON-serializable: {error}") from None
        except (ValueError, RecursionError) as error:
            raise GrammarError(f"the definition is not JSON: {error}") from None
    else:
        raise ArgumentTypeError(f"a definition must be JSON text or a mapping, not {type(definition).__name__}")
    if len(text) > MAX_TEXT or (len(text) > MAX_TEXT // 4 and len(text.encode("utf-8", "replace")) > MAX_TEXT):
        raise LimitExceededError(f"the definition has more than {MAX_TEXT} bytes", "definition_bytes")
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        if isinstance(error, GrammarError):
            raise
        raise GrammarError(f"the definition is not JSON: {error}") from None


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise GrammarError(f'the definition gives "{twice}" twice in one object')
    return made


def _fail(path: str, what: str) -> NoReturn:
    raise GrammarError(f"{path or 'definition'}: {what}")


def _object(value: Any, path: str, keys: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(path, f"expected an object, found {_kind(value)}")
    for key in keys:
        if key not in value:
            _fail(path, f'the field "{key}" is missing')
    for key in value:
        if key not in keys:
            _fail(path, f'unknown field "{key}"; its fields: {", ".join(keys)}')
    return value


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(path, f"expected an array, found {_kind(value)}")
    return value


def _number(value: Any, path: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        _fail(path, f"expected an integer in {low}..{high}, found {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "an array"
    return json.dumps(value)[:40]


class _Checker:
    """Checks one definition and counts its states and edges."""

    def __init__(self) -> None:
        self._states = self._edges = 0

    def definition(self, value: Any) -> dict[str, Any]:
        top = _object(value, "", ("stack_symbol_count", "terminals", "completion"))
        count = top["stack_symbol_count"]
        if type(count) is int and count > MAX_SYMBOLS:
            raise LimitExceededError(f"stack_symbol_count is {count}, at most {MAX_SYMBOLS}", "stack_symbol_count")
        count = _number(count, "stack_symbol_count", 1, MAX_SYMBOLS)
        for at, template in enumerate(_list(top["terminals"], "terminals")):
            self._template(template, f"terminals[{at}]", count)
        self._template(top["completion"], "completion", count)
        return top

    def _template(self, value: Any, path: str, count: int) -> None:
        template = _object(value, path, _TEMPLATE)
        sizes = {name: self._graph(template[name], f"{path}.{name}", count, name == "pop") for name in GRAPHS}
        for name, source, target in LINKS:
            links = _list(template[name], f"{path}.{name}")
            if len(links) > sizes[source]:
                _fail(f"{path}.{name}", f"{len(links)} links, but {source} has {sizes[source]} state(s)")
            for at, link in enumerate(links):
                if link is not None:
                    _number(link, f"{path}.{name}[{at}]", 0, sizes[target] - 1)

    def _graph(self, value: Any, path: str, count: int, is_pop: bool) -> int:
        graph = _object(value, path, ("start", "states"))
        states = _list(graph["states"], f"{path}.states")
        if not states:
            _fail(f"{path}.states", "a graph needs at least one state")
        self._states += len(states)
        if self._states > MAX_STATES:
            raise LimitExceededError(f"{path}: more than {MAX_STATES} states in all", "states")
        _number(graph["start"], f"{path}.start", 0, len(states) - 1)
        targets = [
            self._state(state, f"{path}.states[{at}]", count, len(states), is_pop) for at, state in enumerate(states)
        ]
        _acyclic(targets, path)
        return len(states)

    def _state(self, value: Any, path: str, count: int, states: int, is_pop: bool) -> list[int]:
        """Checks a state; returns the targets of its transitions."""
        state = _object(value, path, ("accepting", "transitions"))
        if not isinstance(state["accepting"], bool):
            _fail(f"{path}.accepting", f"expected true or false, found {_kind(state['accepting'])}")
        transitions = _list(state["transitions"], f"{path}.transitions")
        self._edges += len(transitions)
        if self._edges > MAX_EDGES:
            raise LimitExceededError(f"{path}: more than {MAX_EDGES} transitions in all", "edges")
        seen: set[int] = set()
        targets = []
        for at, transition in enumerate(transitions):
            where = f"{path}.transitions[{at}]"
            edge = _object(transition, where, ("label", "target"))
            label = _label(edge["label"], f"{where}.label", count, is_pop)
            if label in seen:
                _fail(f"{where}.label", "a second transition with this label leaves the state")
            seen.add(label)
            targets.append(_number(edge["target"], f"{where}.target", 0, states - 1))
        return targets


def _label(value: Any, path: str, count: int, is_pop: bool) -> int:
    """The symbol of a label, -1 for Default."""
    if value == "Default":
        if not is_pop:
            _fail(path, '"Default" is for pop graphs only')
        return -1
    if not isinstance(value, dict):
        _fail(path, f'expected {{"Symbol": n}} or "Default", found {_kind(value)}')
    return _number(_object(value, path, ("Symbol",))["Symbol"], f"{path}.Symbol", 0, count - 1)


def _acyclic(targets: list[list[int]], path: str) -> None:
    """Kahn's algorithm: states that no edge enters are taken away until none is left."""
    entering = [0] * len(targets)
    for row in targets:
        for target in row:
            entering[target] += 1
    todo = [state for state, count in enumerate(entering) if not count]
    left = len(targets)
    while todo:
        left -= 1
        for target in targets[todo.pop()]:
            entering[target] -= 1
            if not entering[target]:
                todo.append(target)
    if left:
        state = next(s for s, count in enumerate(entering) if count)
        _fail(f"{path}.states", f"the graph has a cycle at or before state {state}; it must be acyclic")
