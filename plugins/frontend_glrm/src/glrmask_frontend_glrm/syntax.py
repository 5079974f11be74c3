"""What the parser makes of a GLRM text: plain records with offsets; nothing is resolved or decoded yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Union


@dataclass(slots=True)
class Name:
    """A reference to a rule, subgrammar or slot."""

    name: str
    start: int
    end: int


@dataclass(slots=True)
class Text:
    """A string literal; ``raw`` has its quotes and escapes."""

    raw: str
    start: int
    end: int


@dataclass(slots=True)
class Regex:
    """``/pattern/``; the pattern begins one character after ``start``."""

    pattern: str
    start: int
    end: int


@dataclass(slots=True)
class Class:
    """``[body]`` or ``[body]/utf8``; the body begins one character after ``start``."""

    body: str
    is_unicode: bool
    start: int
    end: int


@dataclass(slots=True)
class AnyByte:
    """``.``"""

    start: int
    end: int


@dataclass(slots=True)
class Eps:
    """``eps``"""

    start: int
    end: int


@dataclass(slots=True)
class Seq:
    """At least two parts, one after the other."""

    parts: list[Expr]
    start: int
    end: int


@dataclass(slots=True)
class Alt:
    """At least two alternatives."""

    parts: list[Expr]
    start: int
    end: int


@dataclass(slots=True)
class Both:
    """``a & b & ...``"""

    parts: list[Expr]
    start: int
    end: int


@dataclass(slots=True)
class Minus:
    """``left - b - c ...``"""

    left: Expr
    removed: list[Expr]
    start: int
    end: int


@dataclass(slots=True)
class Repeat:
    """``item{low,high}``; ``high`` None is unbounded."""

    item: Expr
    low: int
    high: int | None
    start: int
    end: int


@dataclass(slots=True)
class SepItem:
    """An item of a separated sequence, with its own quantifier (1, 1 without one)."""

    expr: Expr
    low: int
    high: int | None


@dataclass(slots=True)
class Separated:
    """``separator ~ (items)``, or ``~+`` when at least one item must be there."""

    separator: Expr
    items: list[SepItem]
    at_least_one: bool
    start: int
    end: int


Expr = Union[Name, Text, Regex, Class, AnyByte, Eps, Seq, Alt, Both, Minus, Repeat, Separated]


@dataclass(slots=True)
class State:
    """A state of an automaton; ``1`` and ``a`` never coincide."""

    key: Union[int, str]
    start: int
    end: int


@dataclass(slots=True)
class Starts:
    """``start a, b;``"""

    states: list[State]


@dataclass(slots=True)
class Accepts:
    """``accept a, b;``"""

    states: list[State]


@dataclass(slots=True)
class Edge:
    """``source -> target : label;``"""

    source: State
    target: State
    label: Expr


@dataclass(slots=True)
class Automaton:
    """``fa { ... }``"""

    items: list[Union[Starts, Accepts, Edge]]
    start: int
    end: int


Body = Union[Expr, Automaton]


@dataclass(slots=True)
class Rule:
    """``nt``, ``t`` or ``internal t``; ``kind`` is one of those three."""

    kind: str
    name: Name
    body: Body


@dataclass(slots=True)
class Start:
    """``start NAME;``"""

    name: Name


@dataclass(slots=True)
class Ignore:
    """``ignore NAME;``"""

    name: Name


@dataclass(slots=True)
class Extern:
    """``extern grammar NAME;`` or ``extern token NAME;``; ``kind`` is ``"grammar"`` or ``"token"``."""

    kind: str
    name: Name


@dataclass(slots=True)
class Subgrammar:
    """``g NAME = { ... };``"""

    name: Name
    scope: Scope


@dataclass(slots=True)
class Member:
    """A member of a lexer group: ``kind`` is ``name``, ``string``, ``rest`` (``*``) or ``literals``."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Pragma:
    """``pragma NAMESPACE { groups }``; each group is its members."""

    namespace: Name
    groups: list[list[Member]]


Item = Union[Start, Ignore, Rule, Subgrammar, Extern, Pragma]


@dataclass(slots=True)
class Scope:
    """A document or the body of a subgrammar."""

    items: list[Item] = field(default_factory=list)
    start: int = 0
    end: int | None = None
