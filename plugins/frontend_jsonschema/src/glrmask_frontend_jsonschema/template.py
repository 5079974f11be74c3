"""What every grammar of one setting shares: punctuation with its white space, scalars, "any JSON value".

It is built once per process and setting; a compile starts from a copy of that builder.
"""

from __future__ import annotations

from typing import NamedTuple

from glrmask_core.ir import Builder

from .lower_number import number_fragment
from .settings import LONGEST_BLANK, Settings
from .shape import NUM_ANY, NUM_INTEGER
from .spelling import Speller

BLANK = b" \t\n\r"


class Marks(NamedTuple):
    """Nodes of the shared part. ``quote``, ``colon`` (with its white space) and ``key_end`` (a quote and the colon)
    are lexical, all others are syntactic.
    """

    quote: int
    colon: int
    key_end: int
    comma: int
    open_object: int
    close_object: int
    empty_object: int
    open_array: int
    close_array: int
    empty_array: int
    null: int
    true: int
    false: int
    string: int
    number: int
    integer: int
    any_key: int
    any_value: int
    any_array: int
    any_object: int


class Template:
    """The shared part for one setting of white space and escapes."""

    def __init__(self, whitespace: str | int, any_escape: bool) -> None:
        builder = Builder()
        self._builder = builder
        self._speller = Speller(builder, any_escape)
        self.marks = _build(builder, self._speller, whitespace)

    def fork(self) -> tuple[Builder, Speller]:
        """A builder that has the shared part already, and its speller."""
        builder = self._builder.copy()
        return builder, self._speller.copy(builder)


def _punctuation(builder: Builder, whitespace: str | int) -> dict[str, int]:
    """Each run of blanks belongs to exactly one terminal, so a text has one reading."""
    literal, seq = builder.literal, builder.seq
    if whitespace in ("dumps", "compact"):
        space = b" " if whitespace == "dumps" else b""
        texts = {
            "colon": b":" + space, "comma": b"," + space, "open_object": b"{", "close_object": b"}",
            "empty_object": b"{}", "open_array": b"[", "close_array": b"]", "empty_array": b"[]",
        }  # fmt: skip
        return {name: literal(text) for name, text in texts.items()}
    longest = None if whitespace == "free" else LONGEST_BLANK if whitespace == "flexible" else int(whitespace)
    blank = builder.repeat(builder.bytes_class(BLANK), 0, longest)
    return {
        "colon": seq([blank, literal(b":"), blank]),
        "comma": seq([blank, literal(b","), blank]),
        "open_object": seq([literal(b"{"), blank]),
        "close_object": seq([blank, literal(b"}")]),
        "empty_object": seq([literal(b"{"), blank, literal(b"}")]),
        "open_array": seq([literal(b"["), blank]),
        "close_array": seq([blank, literal(b"]")]),
        "empty_array": seq([literal(b"["), blank, literal(b"]")]),
    }


def _build(builder: Builder, speller: Speller, whitespace: str | int) -> Marks:
    seq, choice, terminal = builder.seq, builder.choice, builder.terminal
    nodes = _punctuation(builder, whitespace)
    colon = nodes.pop("colon")
    key_end = seq([builder.literal(b'"'), colon])
    nodes = {name: terminal(node, name.replace("_", " ")) for name, node in nodes.items()}
    quote = builder.literal(b'"')
    string = terminal(seq([quote, speller.body, quote]), "string")
    numbers = []
    for record, name in ((NUM_ANY, "number"), (NUM_INTEGER, "integer")):
        fragment = number_fragment(record)
        assert fragment is not None, "there are numbers"
        numbers.append(terminal(fragment.replay(builder)[-1], name))
    null, true, false = (terminal(builder.literal(word)) for word in (b"null", b"true", b"false"))
    any_key = terminal(seq([quote, speller.body, key_end]), "key")
    value = builder.rule("JSON value")
    items = builder.repeat(value, 1, None, nodes["comma"])
    array = builder.rule(
        "array", choice([nodes["empty_array"], seq([nodes["open_array"], items, nodes["close_array"]])])
    )
    members = builder.repeat(seq([any_key, value]), 1, None, nodes["comma"])
    inner = seq([nodes["open_object"], members, nodes["close_object"]])
    anything = builder.rule("object", choice([nodes["empty_object"], inner]))
    builder.define(value, choice([null, true, false, string, numbers[0], array, anything]))
    return Marks(
        quote=quote, colon=colon, key_end=key_end, **nodes, null=null, true=true, false=false, string=string,
        number=numbers[0], integer=numbers[1], any_key=any_key, any_value=value, any_array=array, any_object=anything,
    )  # fmt: skip


_templates: dict[tuple[str | int, bool], Template] = {}


def template_of(settings: Settings) -> Template:
    """The shared part for these settings."""
    key = (settings.whitespace, settings.escapes == "any")
    made = _templates.get(key)
    if made is None:
        if len(_templates) > 64:
            _templates.clear()
        made = _templates[key] = Template(*key)
    return made
