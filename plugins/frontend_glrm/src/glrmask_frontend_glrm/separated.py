"""Separated sequences ``S ~ (a? b c*)`` as IR.

Let ``more(i)`` be what item i adds when something stands before it, ``S`` in front of each repetition, and
``rest(i)`` = ``more(i) rest(i+1)``. The first item that is present has no separator in front, so the whole
is the choice over which one that is: ``present(i) rest(i+1)``, for each i up to the first required item.
Each ``rest`` that two alternatives share is a rule, so n items make O(n) nodes. With items written out per
alternative it would be O(n^2); with ``S`` factored out by presence, exponentially many.
"""

from __future__ import annotations

from collections.abc import Sequence

from glrmask_core.ir import SEQ, Builder

SepItem = tuple[int, int, "int | None"]  # syntactic node, low, high


def lower_separated(b: Builder, name: str, separator: int, items: Sequence[SepItem], at_least_one: bool) -> int:
    """The node of a separated sequence.

    Args:
        name: prefix for the rules this makes.
        separator: syntactic node.
        items: in order; ``high`` None is unbounded.
        at_least_one: leave out the reading in which no item is present.
    """
    items = [item for item in items if item[2] != 0]
    if len(items) == 1 and (items[0][1] or not at_least_one):
        node, low, high = items[0]
        return b.optional(node) if (low, high) == (0, 1) else b.repeat(node, low, high, separator)
    required = next((i for i, (_, low, _) in enumerate(items) if low), len(items))
    rest = b.seq(_more(b, separator, item) for item in items[required + 1 :])
    alternatives = []
    for i in range(min(required, len(items) - 1), -1, -1):
        if i >= 1 and b.row(rest)[0] == SEQ:  # shared by this alternative and the next rest
            rest = b.rule(f"{name}~{i + 1}", rest)
        node, low, high = items[i]
        alternatives.append(b.seq((b.repeat(node, max(low, 1), high, separator), rest)))
        rest = b.seq((_more(b, separator, items[i]), rest))
    alternatives.reverse()
    if required == len(items) and not at_least_one:
        alternatives.append(b.empty())
    return b.choice(alternatives)


def _more(b: Builder, separator: int, item: SepItem) -> int:
    node, low, high = item
    once = b.seq((separator, node))
    return b.optional(once) if (low, high) == (0, 1) else b.repeat(once, low, high)
