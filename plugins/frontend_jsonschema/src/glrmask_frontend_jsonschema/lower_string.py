"""String records to lexical nodes: the text between the quotes, as spelled."""

from __future__ import annotations

from glrmask_core.ir import LEX_REPEAT, LEX_SEQ, Builder

from .fragment import Fragment
from .patterns import fragment_of
from .settings import Settings
from .shape import STR_ANY, Str, Strings
from .spelling import Speller


class StringLowering:
    """Strings of one grammar."""

    def __init__(self, builder: Builder, settings: Settings, speller: Speller | None = None) -> None:
        self.builder = builder
        self.any_escape = settings.escapes == "any"
        self.speller = speller or Speller(builder, self.any_escape)
        self._bodies: dict[Str, int] = {}
        self._replayed: dict[tuple[str, str], tuple[Fragment, list[int]]] = {}

    def union(self, strings: Strings) -> int:
        """The texts of any of the records."""
        if len(strings) == 1:
            return self.body(strings[0])
        return self.builder.choice([self.body(record) for record in strings])

    def body(self, record: Str) -> int:
        """The texts of one record."""
        if record is STR_ANY:
            return self.speller.body
        made = self._bodies.get(record)
        if made is None:
            made = self._bodies[record] = self._body(record)
        return made

    def _body(self, record: Str) -> int:
        builder, speller = self.builder, self.speller
        if record.values is not None:
            return speller.texts(record.values)
        wanted = [(kind, text) for kind, text, positive in record.tests if positive]
        if not wanted:
            node = builder.repeat(speller.every, record.low, record.high)
        else:
            node = self._bounded(wanted[0], record.low, record.high, record.tests)
            for kind, text in wanted[1:]:
                node = builder.both(node, self._test(kind, text)[1][-1])
        refused = [self._test(kind, text)[1][-1] for kind, text, positive in record.tests if not positive]
        if record.excluded:
            refused.append(speller.texts(sorted(record.excluded)))
        return builder.without(node, builder.choice(refused)) if refused else node

    def _test(self, kind: str, text: str) -> tuple[Fragment, list[int]]:
        made = self._replayed.get((kind, text))
        if made is None:
            fragment = fragment_of(kind, text, self.any_escape)
            nodes = fragment.replay(self.builder)
            made = self._replayed[kind, text] = fragment, nodes
            assert fragment.root == len(nodes) - 1, "the root is the last step of a fragment"
        return made

    def _bounded(self, test: tuple[str, str], low: int, high: int | None, tests: object) -> int:
        """A pattern or format with a length; without an intersection when the length is decided by one repeat."""
        builder = self.builder
        fragment, nodes = self._test(*test)
        node = nodes[-1]
        if not low and high is None:
            return node
        lengths = fragment.lengths()
        if lengths is not None:
            least, most = lengths
            if low <= least and (high is None or (most is not None and most <= high)):
                return node
            if (high is not None and least > high) or (most is not None and most < low):
                return builder.nothing()
            narrowed = self._narrow(fragment, nodes, low, high)
            if narrowed is not None:
                return narrowed
        return builder.both(node, builder.repeat(self.speller.every, low, high))

    def _narrow(self, fragment: Fragment, nodes: list[int], low: int, high: int | None) -> int | None:
        """``x{a,b}`` among parts of fixed length, with the counts narrowed to the bounds."""
        op, data = fragment.steps[fragment.root]
        parts = data if op == LEX_SEQ else (fragment.root,)
        fixed, at = 0, -1
        for i, part in enumerate(parts):
            size = fragment.lengths(part)
            if size is None:
                return None
            if size[0] == size[1]:
                fixed += size[0]
            elif at < 0 and fragment.steps[part][0] == LEX_REPEAT and fragment.steps[part][1][0] in fragment.single:
                at = i
            else:
                return None
        if at < 0:
            return None
        inner, least, most = fragment.steps[parts[at]][1]
        least = max(least, low - fixed)
        if high is not None:
            most = high - fixed if most is None else min(most, high - fixed)
        if most is not None and most < least:
            return self.builder.nothing()
        made = [nodes[part] for part in parts]
        made[at] = self.builder.repeat(nodes[inner], least, most)
        return self.builder.seq(made)
