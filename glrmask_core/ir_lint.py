"""What is legal in a grammar and probably a mistake: rules nobody uses, rules that match nothing, terminals that
can never stand side by side.

Only what is certain is reported. Masks do not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from . import ir
from .automata import DEAD, Automata
from .errors import LimitExceededError
from .grammar_text import shown
from .ir import Module
from .source import Diagnostic, Place

MAX_STATES = 1000  # of one question about two terminals
WORK = 100_000  # steps of automata in all


def lint(module: Module) -> tuple[Diagnostic, ...]:
    """Warnings about a module, in the order of its rules.

    Cost: linear, and at most 100,000 steps of automata for the pairs of terminals (0.3 s).
    """
    alive = productive(module)
    reached = _reached(module)
    found = []
    for number in range(len(module.rules) // 2):
        name, body = module.names[module.rules[2 * number]], module.rules[2 * number + 1]
        place = module.rule_places.get(number)
        if number not in reached:
            found.append(Diagnostic(f'rule "{name}" is not used', place, "warning"))
        elif body not in alive:
            found.append(Diagnostic(f'rule "{name}" matches nothing, it never comes to an end', place, "warning"))
    return (*found, *_never_adjacent(module))


def children(module: Module, node: int) -> Sequence[int]:
    """The syntactic children of a node: the body of a rule for a call, no lexical nodes."""
    op, a, b, _ = module.row(node)
    args = module.args
    if op in (ir.SEQ, ir.CHOICE):
        return args[a : a + b]
    if op in (ir.REPEAT, ir.SCOPE):
        return (a,)
    if op == ir.SEPARATED:
        return args[a : a + 2]
    if op == ir.CALL:
        return (module.rules[2 * a + 1],)
    if op == ir.ANY_ORDER:
        return [x for x in (args[a], args[a + 1], *args[a + 4 : a + 4 + 2 * b : 2]) if x >= 0]
    return ()


def productive(module: Module) -> set[int]:
    """The syntactic nodes that some finite text matches, slots counting as texts."""
    parents: dict[int, list[int]] = {}
    todo = []
    for node in range(len(module)):
        for child in children(module, node):
            parents.setdefault(child, []).append(node)
        if module.row(node)[0] not in (ir.SEQ, ir.CHOICE, ir.SCOPE, ir.CALL, ir.NOTHING):
            todo.append(node)
    alive: set[int] = set()
    while todo:
        node = todo.pop()
        if node not in alive and _is_productive(module, node, alive):
            alive.add(node)
            todo += parents.get(node, ())
    return alive


def _is_productive(module: Module, node: int, alive: set[int]) -> bool:
    op, a, b, _ = module.row(node)
    args = module.args
    if op == ir.SEQ:
        return all(x in alive for x in args[a : a + b])
    if op == ir.CHOICE:
        return any(x in alive for x in args[a : a + b])
    if op == ir.REPEAT:
        return b == 0 or a in alive
    if op == ir.SEPARATED:
        return b == 0 or (args[a] in alive and (b == 1 or args[a + 1] in alive))
    if op in (ir.SCOPE, ir.CALL):
        return children(module, node)[0] in alive
    if op == ir.ANY_ORDER:
        items = args[a + 4 : a + 4 + 2 * b]
        return all(item in alive for item, required in zip(items[::2], items[1::2], strict=True) if required)
    return op != ir.NOTHING


def _reached(module: Module) -> set[int]:
    """The rules that the root calls, directly or not."""
    seen = {module.root}
    todo = [module.root]
    while todo:
        for child in children(module, todo.pop()):
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return {module.row(node)[1] for node in seen if module.row(node)[0] == ir.CALL}


def _never_adjacent(module: Module) -> Iterator[Diagnostic]:
    """Pairs of terminals in a row of which the first always swallows the second."""
    asked: set[tuple[int, int]] = set()
    automata = Automata(module, WORK)
    for left, right in _neighbours(module):
        key = module.row(left)[1], module.row(right)[1]
        if key in asked:
            continue
        asked.add(key)
        try:
            if not never_adjacent(automata, *key):
                continue
        except LimitExceededError:
            continue
        message = f"{_called(module, left)} always takes all that {_called(module, right)} would need behind it"
        place = _place(module, left) or _place(module, right)
        yield Diagnostic(f"{message}, so this never completes; put something between them", place, "warning")


def never_adjacent(automata: Automata, left: int, right: int) -> bool:
    """Whether no text of one lexical node can be its longest match in front of a text of the other.

    Both texts are non-empty. True is a proof: whatever the two are, ``left`` matches more. Terminals that match
    the empty text count as possible neighbours of anything.

    Raises:
        LimitExceededError: no answer within the budget of ``automata`` or within 1,000 states.
    """
    first, second = automata.start(left), automata.start(right)
    if DEAD in (first, second) or automata.accepts(first) or automata.accepts(second):
        return False
    ends = _closure([first], lambda state: (after for _, after in automata.arcs(state)))
    # Pairs of what the left one would go on with and what the right one still needs, on the same bytes.
    seen = {(end, second) for end in ends if automata.accepts(end)}
    todo = list(seen)
    while todo:
        for pair in _moves(automata, *todo.pop()):
            owed, rest = pair
            if automata.accepts(owed):
                continue  # the left one matches more after all
            if owed == DEAD or automata.accepts(rest):
                return False  # every state is live, so the right one can be completed
            if pair not in seen:
                seen.add(pair)
                todo.append(pair)
        if len(seen) > MAX_STATES:
            raise LimitExceededError(f"more than {MAX_STATES} states", "lexer_states")
    return True


def _moves(automata: Automata, owed: int, rest: int) -> Iterator[tuple[int, int]]:
    """Both states after each byte that the second can take."""
    for mask, after in automata.arcs(rest):
        for part in automata.byte_sets(owed):
            common = mask & part
            if common:
                mask &= ~common
                yield automata.step(owed, (common & -common).bit_length() - 1), after
        if mask:
            yield DEAD, after


def _closure(starts: Iterable[int], after: Callable[[int], Iterable[int]]) -> set[int]:
    seen = set(starts)
    todo = list(seen)
    while todo:
        for state in after(todo.pop()):
            if state not in seen:
                seen.add(state)
                todo.append(state)
        if len(seen) > MAX_STATES:
            raise LimitExceededError(f"more than {MAX_STATES} states", "lexer_states")
    return seen


def _neighbours(module: Module) -> Iterator[tuple[int, int]]:
    """Terminals side by side where nothing is ignored between them; also a terminal repeated at least twice."""
    seen: set[tuple[int, bool]] = set()
    todo = [(module.root, False)]
    while todo:
        node, has_ignore = todo.pop()
        if (node, has_ignore) in seen:
            continue
        seen.add((node, has_ignore))
        op, a, b, _ = module.row(node)
        if op == ir.SCOPE:
            has_ignore = b >= 0
        inside = children(module, node)
        todo += [(child, has_ignore) for child in inside]
        if has_ignore:
            continue
        row = inside if op == ir.SEQ else (a, a) if op == ir.REPEAT and b > 1 else ()
        for left, right in pairwise(row):
            if module.row(left)[0] == module.row(right)[0] == ir.TERMINAL and not module.row(left)[2]:
                yield left, right


def _called(module: Module, node: int) -> str:
    _, lexical, _, name = module.row(node)
    if name >= 0:
        return f'terminal "{module.names[name]}"'
    op, offset, length, _ = module.row(lexical)
    if op == ir.LITERAL:
        return f'"{shown(module.blob[offset : offset + length].decode("utf-8", "backslashreplace"))}"'
    return "a terminal"


def _place(module: Module, node: int) -> Place | None:
    return module.places.get(node)
