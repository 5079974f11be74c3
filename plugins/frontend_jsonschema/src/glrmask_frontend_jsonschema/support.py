"""Every keyword the front-end knows: the table that dispatch reads and that ``docs/json_schema.md`` prints.

A keyword belongs to one group. :mod:`keywords` ORs the groups of the keys it meets and calls one reader per
group, so a keyword that is missing here is an unknown one (ignored, as the standard says), and a keyword
that is here is read, refused, or an annotation. Nothing else decides.
"""

from __future__ import annotations

from dataclasses import dataclass

NOTE = 0  # annotation or a place for other schemas: no effect of its own
TYPE = 1
STRING = 2
NUMBER = 4
ARRAY = 8
OBJECT = 16
VALUE = 32  # const, enum
COMBINE = 64
REFER = 128
UNEVALUATED = 256
REFUSED = 512

SCALAR = TYPE | STRING | NUMBER  # schemas of these alone have no others in them

GROUP_NAMES = {
    NOTE: "annotation",
    TYPE: "type",
    STRING: "string",
    NUMBER: "number",
    ARRAY: "array",
    OBJECT: "object",
    VALUE: "value",
    COMBINE: "combinator",
    REFER: "reference",
    UNEVALUATED: "unevaluated",
    REFUSED: "refused",
}


@dataclass(frozen=True)
class Keyword:
    """One keyword.

    Attributes:
        name: as in a schema.
        group: which reader enforces it.
        drafts: where it is defined; it is understood in all of them.
        note: what is enforced and what is refused, for the documentation.
        holds: ``"schema"``, ``"schemas"`` (list), ``"map"`` (name to schema), ``"either"`` (schema or list) or
            ``""``: where identifiers and anchors are looked for.
    """

    name: str
    group: int
    drafts: str
    note: str
    holds: str = ""


_ALL = "4, 6, 7, 2019-09, 2020-12"
_6 = "6, 7, 2019-09, 2020-12"
_7 = "7, 2019-09, 2020-12"
_2019 = "2019-09, 2020-12"

TABLE: tuple[Keyword, ...] = (
    Keyword("type", TYPE, _ALL, "exact; `integer` is spelled without fraction"),
    Keyword("const", VALUE, _6, "exact; numbers keep their exact value"),
    Keyword("enum", VALUE, _ALL, "exact; an empty list is an error"),
    Keyword("minLength", STRING, _ALL, "exact, in code points"),
    Keyword("maxLength", STRING, _ALL, "exact, in code points"),
    Keyword("pattern", STRING, _ALL, "exact, searched; look-around, `\\b` and back-references are refused"),
    Keyword("format", STRING | NUMBER, _ALL, "asserted, see the table of formats"),
    Keyword("minimum", NUMBER, _ALL, "exact, any precision"),
    Keyword("maximum", NUMBER, _ALL, "exact, any precision"),
    Keyword("exclusiveMinimum", NUMBER, _ALL, "exact; a number or the boolean of draft 4"),
    Keyword("exclusiveMaximum", NUMBER, _ALL, "exact; a number or the boolean of draft 4"),
    Keyword("multipleOf", NUMBER, _ALL, "exact up to 65,536 remainders"),
    Keyword("items", ARRAY, _ALL, "exact; a list is read as `prefixItems`", "either"),
    Keyword("prefixItems", ARRAY, "2020-12", "exact", "schemas"),
    Keyword("additionalItems", ARRAY, "4, 6, 7, 2019-09", "exact; without a list in `items` no effect", "schema"),
    Keyword("minItems", ARRAY, _ALL, "exact"),
    Keyword("maxItems", ARRAY, _ALL, "exact"),
    Keyword("uniqueItems", ARRAY, _ALL, "exact when at most one item fits or the items have few values, else refused"),
    Keyword("contains", ARRAY, _6, "exact", "schema"),
    Keyword("minContains", ARRAY, _2019, "exact"),
    Keyword("maxContains", ARRAY, _2019, "exact"),
    Keyword("properties", OBJECT, _ALL, "exact; see key order", "map"),
    Keyword("required", OBJECT, _ALL, "exact"),
    Keyword("patternProperties", OBJECT, _ALL, "exact, at most 64 combinations of patterns", "map"),
    Keyword("additionalProperties", OBJECT, _ALL, "exact", "schema"),
    Keyword("propertyNames", OBJECT, _6, "exact", "schema"),
    Keyword("minProperties", OBJECT, _ALL, "exact, at most 4,096 counting states"),
    Keyword("maxProperties", OBJECT, _ALL, "exact, at most 4,096 counting states"),
    Keyword("dependentRequired", OBJECT, _2019, "exact, at most 4,096 combinations"),
    Keyword("dependentSchemas", COMBINE, _2019, "exact, at most 4,096 combinations", "map"),
    Keyword("dependencies", COMBINE, "4, 6, 7", "exact, both forms, at most 4,096 combinations", "map"),
    Keyword("allOf", COMBINE, _ALL, "exact intersection", "schemas"),
    Keyword("anyOf", COMBINE, _ALL, "exact union", "schemas"),
    Keyword("oneOf", COMBINE, _ALL, "exact: union when disjoint, else with complements", "schemas"),
    Keyword("not", COMBINE, _ALL, "exact complement; not of `uniqueItems`", "schema"),
    Keyword("if", COMBINE, _7, "exact, under the complement of `if`", "schema"),
    Keyword("then", COMBINE, _7, "exact; without `if` it has no effect", "schema"),
    Keyword("else", COMBINE, _7, "exact; without `if` it has no effect", "schema"),
    Keyword("extends", COMBINE, "3", "as `allOf`", "either"),
    Keyword("disallow", REFUSED, "3", "refused: write `not`"),
    Keyword("divisibleBy", REFUSED, "3", "refused: write `multipleOf`"),
    Keyword("$ref", REFER, _ALL, "exact; intersected with what stands beside it"),
    Keyword("$dynamicRef", REFER, "2020-12", "exact, by the dynamic scope"),
    Keyword("$recursiveRef", REFER, "2019-09", "exact, by the dynamic scope"),
    Keyword("unevaluatedProperties", UNEVALUATED, _2019, "exact", "schema"),
    Keyword("unevaluatedItems", UNEVALUATED, _2019, "exact", "schema"),
    Keyword("$schema", NOTE, _ALL, "drafts 4 to 2020-12; another one is an error"),
    Keyword("$id", NOTE, _6, "base of references"),
    Keyword("id", NOTE, "4", "base of references"),
    Keyword("$anchor", NOTE, _2019, "target of references"),
    Keyword("$dynamicAnchor", NOTE, "2020-12", "target of references"),
    Keyword("$recursiveAnchor", NOTE, "2019-09", "target of references"),
    Keyword("$defs", NOTE, _2019, "holds schemas for references", "map"),
    Keyword("definitions", NOTE, "4, 6, 7", "holds schemas for references", "map"),
    Keyword("$vocabulary", NOTE, _2019, "ignored"),
    Keyword("$comment", NOTE, _7, "ignored"),
    Keyword("title", NOTE, _ALL, "ignored"),
    Keyword("description", NOTE, _ALL, "ignored"),
    Keyword("default", NOTE, _ALL, "ignored"),
    Keyword("examples", NOTE, _6, "ignored"),
    Keyword("deprecated", NOTE, _2019, "ignored"),
    Keyword("readOnly", NOTE, _7, "ignored"),
    Keyword("writeOnly", NOTE, _7, "ignored"),
    Keyword("contentEncoding", NOTE, _7, "annotation, ignored"),
    Keyword("contentMediaType", NOTE, _7, "annotation, ignored"),
    Keyword("contentSchema", NOTE, _2019, "annotation, ignored", "schema"),
)

KEYWORDS: dict[str, Keyword] = {entry.name: entry for entry in TABLE}
GROUPS: dict[str, int] = {entry.name: entry.group for entry in TABLE}
HOLDERS: dict[str, str] = {entry.name: entry.holds for entry in TABLE if entry.holds}

EFFECTIVE = frozenset(name for name, group in GROUPS.items() if group)
MOST_SETS = 10_000  # remembered per process
GROUPS_OF: dict[frozenset[str], int] = {}  # by set of effective keywords: schemas use few different ones


def groups_of(words: frozenset[str]) -> int:
    """The groups of a set of effective keywords."""
    groups = 0
    for word in words:
        groups |= GROUPS[word]
    if len(GROUPS_OF) >= MOST_SETS:
        GROUPS_OF.clear()
    GROUPS_OF[words] = groups
    return groups


def keyword_table() -> str:
    """The Markdown table of the documentation."""
    lines = ["| keyword | drafts | kind | behaviour |", "| --- | --- | --- | --- |"]
    for entry in TABLE:
        kinds = [name for bit, name in GROUP_NAMES.items() if bit and entry.group & bit] or [GROUP_NAMES[NOTE]]
        lines.append(f"| `{entry.name}` | {entry.drafts} | {', '.join(kinds)} | {entry.note} |")
    return "\n".join(lines)
