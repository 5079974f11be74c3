"""Where ids stand inside the arrays of a module, as look-up tables for vectorised work on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import ir

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int32]


class Layout(NamedTuple):
    """References in the arrays of a module, as kinds: what each number refers to.

    Attributes:
        columns: int8[nodes, 3], of columns a, b and c.
        pooled: int8[len(args)], of the args pool.
        externs: the nodes of open slots, ascending.
    """

    columns: npt.NDArray[np.int8]
    pooled: npt.NDArray[np.int8]
    externs: list[int]


NONE, NODE, ARGS, BLOB, NAME, RULE = range(6)
OPS = 27

# What columns a, b and c of a row refer to, per op.
_COLUMNS = np.zeros((OPS, 3), np.int8)
for _op, _kinds in {
    ir.LITERAL: (BLOB,),
    ir.LITERALS: (ARGS,),
    ir.BYTES: (BLOB,),
    ir.CHARS: (ARGS,),
    ir.LEX_SEQ: (ARGS,),
    ir.LEX_CHOICE: (ARGS,),
    ir.LEX_REPEAT: (NODE,),
    ir.BOTH: (NODE, NODE),
    ir.WITHOUT: (NODE, NODE),
    ir.AUTOMATON: (ARGS,),
    ir.TERMINAL: (NODE, NONE, NAME),
    ir.CALL: (RULE,),
    ir.SEQ: (ARGS,),
    ir.CHOICE: (ARGS,),
    ir.REPEAT: (NODE,),
    ir.SEPARATED: (ARGS,),
    ir.TOKEN_IDS: (ARGS,),
    ir.EXTERN_GRAMMAR: (NAME,),
    ir.EXTERN_TOKEN: (NAME,),
    ir.SCOPE: (NODE, NODE),
    ir.ANY_ORDER: (ARGS,),
}.items():
    _COLUMNS[_op, : len(_kinds)] = _kinds

# Numbers in the args pool per op: fixed, plus a multiple of column b.
_FIXED = np.zeros(OPS, np.int64)
_EACH = np.zeros(OPS, np.int64)
_EACH[[ir.LEX_SEQ, ir.LEX_CHOICE, ir.SEQ, ir.CHOICE, ir.TOKEN_IDS, ir.AUTOMATON]] = 1
_EACH[[ir.LITERALS, ir.CHARS, ir.ANY_ORDER]] = 2
_FIXED[ir.SEPARATED] = 2
_FIXED[ir.ANY_ORDER] = 4

# Ops whose numbers in the args pool are all nodes.
_LISTS = np.zeros(OPS, bool)
_LISTS[[ir.LEX_SEQ, ir.LEX_CHOICE, ir.SEQ, ir.CHOICE, ir.SEPARATED]] = True
# Ops whose numbers in the args pool are references and others in turn.
_OTHERS = np.zeros(OPS, bool)
_OTHERS[[ir.LITERALS, ir.ANY_ORDER, ir.AUTOMATON]] = True


def column_kinds(rows: Ints) -> npt.NDArray[np.int8]:
    """For int32[n, 4] rows, what a, b and c of each refer to: int8[n, 3]."""
    kinds: npt.NDArray[np.int8] = _COLUMNS[rows[:, 0]]
    return kinds


def args_lengths(rows: Ints) -> npt.NDArray[np.int64]:
    """For int32[n, 4] rows, how many numbers of the args pool each owns (0 for none)."""
    ops = rows[:, 0]
    lengths: npt.NDArray[np.int64] = _FIXED[ops] + _EACH[ops] * rows[:, 2]
    return lengths


def spread(starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers ``starts[i] .. starts[i] + lengths[i] - 1``, one range after the other."""
    total = int(lengths.sum())
    if not total:
        return np.zeros(0, np.int64)
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(total)


def layout_of(module: ir.Module) -> Layout:
    """Cost: linear, with about 0.1 ms to begin with."""
    rows = np.frombuffer(module.rows, np.int32).reshape(-1, 4)
    args = np.frombuffer(module.args, np.int32) if len(module.args) else np.zeros(0, np.int32)
    externs = np.flatnonzero((rows[:, 0] == ir.EXTERN_GRAMMAR) | (rows[:, 0] == ir.EXTERN_TOKEN))
    return Layout(column_kinds(rows), pooled_kinds(rows, args), externs.tolist())


def pooled_kinds(rows: Ints, args: Ints) -> npt.NDArray[np.int8]:
    """What each number of the args pool refers to: int8[len(args)]. The ranges of ``rows`` must be in bounds."""
    n = len(args) + 1
    ops = rows[:, 0]
    listed = rows[_LISTS[ops]]
    starts = listed[:, 1]
    begun = np.cumsum(np.bincount(starts, minlength=n) - np.bincount(starts + args_lengths(listed), minlength=n))
    kinds: npt.NDArray[np.int8] = (begun[:-1] > 0) * np.int8(NODE)
    others = rows[_OTHERS[ops]]
    if not len(others):
        return kinds
    ops = others[:, 0]
    texts = others[ops == ir.LITERALS]
    kinds[spread(texts[:, 1].astype(np.int64), args_lengths(texts))[0::2]] = BLOB
    for _, at, count, _ in others[ops == ir.ANY_ORDER].tolist():
        kinds[at : at + 2] = NODE
        kinds[at + 4 : at + 4 + 2 * count : 2] = NODE
    for at in others[ops == ir.AUTOMATON, 1].tolist():
        kinds[at + 4 : at + 3 + 3 * int(args[at + 2]) : 3] = NODE
    return kinds
