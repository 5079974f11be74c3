"""What a grammar is once it is built: :class:`Module`, flat arrays of nodes.

Layout of ``Module.rows``, four int32 per node (``args`` and ``blob`` are pools that rows point into):

======================  =======================  ======================  ====================
op                      a                        b                       c
======================  =======================  ======================  ====================
NOTHING                 -                        -                       -
LITERAL                 blob offset              length in bytes         -
LITERALS                args offset              number of literals      -
BYTES                   blob offset (32 bytes)   -                       -
CHARS                   args offset              number of ranges        -
LEX_SEQ, LEX_CHOICE     args offset              number of nodes         -
LEX_REPEAT              node                     min                     max or -1
BOTH, WITHOUT           node                     node                    -
AUTOMATON               args offset              args length             -
TERMINAL                lexical node             1 if exempt             name or -1
CALL                    rule                     -                       -
SEQ, CHOICE             args offset              number of nodes         -
REPEAT                  node                     min                     max or -1
SEPARATED               args offset              min                     max or -1
TOKEN_IDS               args offset              number of ids           -
EXTERN_GRAMMAR          name                     -                       -
EXTERN_TOKEN            name                     -                       -
SCOPE                   node                     ignore (lexical) or -1  -
ANY_ORDER               args offset              number of items         -
======================  =======================  ======================  ====================

``LITERALS`` args: (blob offset, length) pairs, sorted by bytes, distinct. ``CHARS`` args: (first, last)
pairs of code points, sorted, disjoint, no surrogates. ``AUTOMATON`` args: states, start, number of edges,
edges (source, label node, target) sorted by source, number of accepting states, those states; labels never
match the empty string. ``SEPARATED`` args: node, separator. ``ANY_ORDER`` args: separator or -1,
extra or -1, min, max or -1, then (node, 1 if required) pairs. Children always have smaller ids than
their parents. Token ids are unsigned and stored as int32 with the same bits.
"""

from __future__ import annotations

import enum
import hashlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from .source import Place

if TYPE_CHECKING:
    from .ir_layout import Layout

IR_VERSION = 1
UNBOUNDED = -1
MAX_COUNT = 2**31 - 1


class Op(enum.IntEnum):
    """Node kinds; lexical below 16, syntactic from 16 on. Numbers are part of the artifact format."""

    NOTHING = 0
    LITERAL = 1
    LITERALS = 2
    BYTES = 3
    CHARS = 4
    LEX_SEQ = 5
    LEX_CHOICE = 6
    LEX_REPEAT = 7
    BOTH = 8
    WITHOUT = 9
    AUTOMATON = 10
    TERMINAL = 16
    CALL = 17
    SEQ = 18
    CHOICE = 19
    REPEAT = 20
    SEPARATED = 21
    TOKEN_IDS = 22
    EXTERN_GRAMMAR = 23
    EXTERN_TOKEN = 24
    SCOPE = 25
    ANY_ORDER = 26


# Plain ints: the builder is on the compile path, and enum members compare slowly.
(NOTHING, LITERAL, LITERALS, BYTES, CHARS, LEX_SEQ, LEX_CHOICE, LEX_REPEAT, BOTH, WITHOUT, AUTOMATON) = range(11)
(TERMINAL, CALL, SEQ, CHOICE, REPEAT, SEPARATED, TOKEN_IDS, EXTERN_GRAMMAR, EXTERN_TOKEN, SCOPE, ANY_ORDER) = range(
    16, 27
)
FIRST_SYNTACTIC = 16
EMPTY = 1  # the node of the empty text, in every module


@dataclass(frozen=True, eq=False)
class Module:
    """A finished grammar. Compare by :attr:`digest`.

    Attributes:
        rows: int32[4 * nodes], see the table of this module.
        args: int32 pool.
        blob: byte pool.
        names: name pool (terminals, rules, slots).
        rules: int32[2 * rules], (name, body node) per rule.
        root: the node of the whole language.
        slots: declared externs, name to ``"grammar"`` or ``"token"``, in declaration order.
        places: node id to where it came from, for messages; not part of the digest.
        rule_places: rule number to where it is defined; not part of the digest.
    """

    rows: array[int]
    args: array[int]
    blob: bytes
    names: tuple[str, ...]
    rules: array[int]
    root: int
    slots: Mapping[str, str]
    places: Mapping[int, Place] = field(default_factory=dict)
    rule_places: Mapping[int, Place] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows) // 4

    def row(self, node: int) -> tuple[int, int, int, int]:
        """(op, a, b, c) of a node."""
        i = 4 * node
        rows = self.rows
        return rows[i], rows[i + 1], rows[i + 2], rows[i + 3]

    @cached_property
    def layout(self) -> Layout:
        """Where references stand in the arrays. Made once, as a host may be linked many times."""
        from .ir_layout import layout_of

        return layout_of(self)

    @property
    def digest(self) -> bytes:
        """32 bytes that identify the grammar (places apart)."""
        h = hashlib.blake2b(digest_size=32)
        head = repr((IR_VERSION, self.root, self.names, tuple(self.slots.items())))
        for part in (head.encode(), self.rows.tobytes(), self.args.tobytes(), self.blob, self.rules.tobytes()):
            h.update(len(part).to_bytes(8, "little"))
            h.update(part)
        return h.digest()
