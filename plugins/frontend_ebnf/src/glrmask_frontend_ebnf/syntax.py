"""What the parser makes of an EBNF text: plain records with offsets; nothing is resolved or decoded yet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Name:
    """A reference to a rule."""

    name: str
    start: int
    end: int

    @property
    def is_terminal(self) -> bool:
        """Case decides: only ``A-Z``, ``0-9`` and ``_`` make a terminal."""
        return self.name == self.name.upper()


@dataclass(slots=True)
class Text:
    """A string literal; ``raw`` has its quotes and escapes."""

    raw: str
    start: int
    end: int


@dataclass(slots=True)
class Class:
    """``[body]``; the body begins one character after ``start``."""

    body: str
    start: int
    end: int


@dataclass(slots=True)
class AnyByte:
    """``.``"""

    start: int
    end: int


@dataclass(slots=True)
class ExactToken:
    """``@token(number)``"""

    number: int
    start: int
    end: int


@dataclass(slots=True)
class Seq:
    """Parts one after the other; none at all is the empty text, and then the offsets are 0."""

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
class Repeat:
    """``item?``, ``item*`` or ``item+``; ``high`` None is unbounded."""

    item: Expr
    low: int
    high: int | None
    start: int
    end: int


Expr = Name | Text | Class | AnyByte | ExactToken | Seq | Alt | Repeat


@dataclass(slots=True)
class Rule:
    """``name ::= body``"""

    name: Name
    body: Expr
