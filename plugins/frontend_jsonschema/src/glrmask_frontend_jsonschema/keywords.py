"""What single keywords mean: from a schema object to the records of its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glrmask_core.errors import GrammarError

from . import formats
from .expr import ATOM, FALSE_KIND, TRUE_KIND, Expr, Exprs
from .reading import Exact, as_exact, as_integer, exact_key, is_number
from .refuse import Refusal, Where, fault, pointer
from .resolve import Context, Resolver
from .settings import Settings
from .shape import (
    NUM_INTEGER,
    NUMS_ANY,
    NUMS_INTEGER,
    STRS_ANY,
    UNSEEN,
    Arr,
    Contains,
    Num,
    Obj,
    Rule,
    Shape,
    Str,
    Strings,
    applies,
    both_numbers,
)
from .support import (
    ARRAY,
    COMBINE,
    EFFECTIVE,
    GROUPS,
    GROUPS_OF,
    NUMBER,
    OBJECT,
    REFER,
    REFUSED,
    SCALAR,
    STRING,
    TYPE,
    UNEVALUATED,
    VALUE,
    groups_of,
)
from .texts import Texts

if TYPE_CHECKING:
    from .meaning import Meaning

TYPES = frozenset(("null", "boolean", "object", "array", "number", "integer", "string"))
NO_NAMES: frozenset[str] = frozenset()
new = tuple.__new__  # named tuples without the call of their own __new__
SHALLOW = TYPE | COMBINE | REFER | UNEVALUATED | REFUSED  # what the shape of a schema's own keywords is not made of
LEAF = SCALAR | VALUE | ARRAY | COMBINE  # groups of schemas that are looked up by what they ask
ONLY_REF = frozenset(("$ref",))
MOST_COUNT = 2**31 - 1  # counts in the IR are int32


class Readers(Texts):
    """Reads schema objects. ``Meaning`` adds the algebra."""

    def __init__(self, resolver: Resolver, settings: Settings, dropped: set[tuple[int, str]]) -> None:
        super().__init__(settings)
        self.resolver = resolver
        self.exprs = Exprs()
        self.dropped = dropped
        self.proofs: dict[tuple[int, int, int], bool] = {}
        self._atoms: dict[object, Expr] = {}
        self._constants: dict[object, Expr] = {}
        self._leaves: dict[object, Expr] = {}  # by all that is asked
        self._referred: dict[tuple[str, int], Expr] = {}  # by reference and context
        self._typed: dict[str | tuple[str, ...], Expr] = {}  # by type or types
        self._here: tuple[Expr, str] | None = None
        true = self.exprs.true
        self.array_any = Arr((), true)
        self.object_any = Obj({}, {}, NO_NAMES)
        self.anything = Shape(True, 3, NUMS_ANY, STRS_ANY, (self.array_any,), (self.object_any,))

    @property
    def _algebra(self) -> Meaning:
        return self  # type: ignore[return-value]  # the one class that derives from this

    # -- errors -------------------------------------------------------------------------------

    def refuse(self, expr: Expr, keyword: str, reason: str, hint: str) -> None:
        """Raise: this keyword cannot be enforced exactly."""
        atom = expr.place()
        schema, where = (atom.schema, atom.where) if atom else (None, None)
        raise Refusal(schema, pointer(where, keyword), keyword, reason, hint)

    def refuse_here(self, reason: str) -> None:
        """Raise for the combinator that is being read."""
        if self._here is None:
            raise GrammarError(f"cannot enforce this schema: {reason}. Simplify it.")
        expr, keyword = self._here
        self.refuse(expr, keyword or "not", reason, "Split the schema into fewer or more clearly different cases.")

    def _fault(self, expr: Expr, keyword: str, expected: str, found: object) -> GrammarError:
        return fault(pointer(expr.where, keyword), expected, found)

    # -- schema objects -----------------------------------------------------------------------

    def atom(self, schema: Any, where: Where, context: Context) -> Expr:
        """The expression of a schema (or boolean); a schema that only refers is what it refers to."""
        if not isinstance(schema, dict):
            if isinstance(schema, bool):
                return self.exprs.true if schema else self.exprs.false
            raise fault(pointer(where), "a schema (an object or a boolean)", schema)
        if len(schema) == 1 and not self.dropped:  # known types and references
            found = schema.get("type")
            if found is None:
                found = schema.get("$ref")
                made = self._referred.get((found, id(context))) if isinstance(found, str) else None
            else:
                made = self._typed.get(found) if isinstance(found, str) else None
            if made is not None:
                return made
        if "$id" in schema or "id" in schema:
            context = self.resolver.inside(schema, context)
        key: object = (id(schema), id(context)) if self.resolver.scoped else id(schema)
        made = self._atoms.get(key)
        if made is not None:
            return made
        words = EFFECTIVE.intersection(schema)
        groups = GROUPS_OF.get(words, -1)
        if groups < 0:
            groups = groups_of(words)
        if groups == TYPE:
            found = schema["type"]
            made = self._typed.get(found) if isinstance(found, str) else None
            if made is not None and len(self._atoms) < self.settings.max_nodes:
                self._atoms[key] = made
                return made
        if groups == REFER and self._only_refers(words, schema):
            link = schema["$ref"], id(context)
            made = self._referred.get(link) if isinstance(link[0], str) else None
            if made is None:
                made = self._referred[link] = self._follow(schema, where, context)
            return made
        if not groups:
            return self.exprs.true
        if len(self._atoms) >= self.settings.max_nodes:
            raise fault(pointer(where), f"at most {self.settings.max_nodes} schemas (option max_nodes)", "more")
        made = self._shared(schema) if groups == TYPE else None
        if made is None:
            leaf = None if groups & ~LEAF or self.dropped else _leaf_key(words, schema, context)
            made = self._leaves.get(leaf) if leaf is not None else None
            if made is None:
                made = Expr(ATOM, (), schema, where, context, groups)
                if leaf is not None:
                    self._leaves[leaf] = made
        self._atoms[key] = made
        return made

    def _only_refers(self, words: frozenset[str], schema: dict[str, Any]) -> bool:
        return words == ONLY_REF and not (self.dropped and (id(schema), "$ref") in self.dropped)

    def _follow(self, schema: dict[str, Any], where: Where, context: Context) -> Expr:
        """What a schema that only refers stands for, at the end of the chain."""
        passed: set[int] = set()
        while isinstance(schema, dict) and self._only_refers(EFFECTIVE.intersection(schema), schema):
            if id(schema) in passed:
                raise fault(pointer(where, "$ref"), "a reference that ends at a schema", "a cycle of references")
            passed.add(id(schema))
            schema, where, context = self.resolver.resolve(schema["$ref"], schema, where, context)
            if isinstance(schema, dict) and ("$id" in schema or "id" in schema):
                context = self.resolver.inside(schema, context)
        return self.atom(schema, where, context)

    def _shared(self, schema: dict[str, Any]) -> Expr | None:
        """The expression of a schema that says no more than a type, one for all of them; None when it is faulty."""
        found = schema["type"]
        if isinstance(found, list) and "object" not in found and all(isinstance(name, str) for name in found):
            found = tuple(found)
        elif not isinstance(found, str):
            return None
        made = self._typed.get(found)
        if made is None:
            if not found or not TYPES.issuperset((found,) if isinstance(found, str) else found):
                return None
            made = self._typed[found] = Expr(ATOM, (), schema, None, self.resolver.start, TYPE)
            made.shared = True
        return made

    def constant(self, value: Any, where: Where, context: Context) -> Expr:
        """The expression of one JSON value."""
        key = exact_key(value)
        made = self._constants.get(key)
        if made is None:
            made = self._constants[key] = Expr(ATOM, (), {"const": value}, where, context, VALUE)
        return made

    def atom_shape(self, expr: Expr, track: bool) -> Shape:
        """The shape of a schema object; with ``track``, including what it evaluates."""
        schema, groups = expr.schema, expr.groups
        if self.dropped:
            schema = self._without_dropped(schema)
            groups = groups_of(EFFECTIVE.intersection(schema))
        if groups & REFUSED:
            keyword = next(k for k in schema if GROUPS.get(k, 0) & REFUSED)
            self.refuse(expr, keyword, "it belongs to draft 3", "Write the schema for draft 4 or later.")
        base = self._base_shape(schema, groups, expr)
        if groups & (COMBINE | REFER):
            order = [key for key in schema if GROUPS.get(key, 0) & (COMBINE | REFER | OBJECT)]
            base = self._algebra._combine(schema, order, base, expr, track or bool(groups & UNEVALUATED))
        if groups & UNEVALUATED:
            base = self._algebra._unevaluated(schema, base, expr)
        return base

    def _without_dropped(self, schema: dict[str, Any]) -> dict[str, Any]:
        gone = {k for k in schema if (id(schema), k) in self.dropped}
        if not gone:
            return schema
        kept = {k: v for k, v in schema.items() if k not in gone}
        if "oneOf" in gone and "anyOf" not in schema:  # still at least one of them
            kept["anyOf"] = schema["oneOf"]
        return kept

    def _base_shape(self, schema: dict[str, Any], groups: int, expr: Expr) -> Shape:
        every = self.anything
        if not groups & ~SHALLOW | groups & TYPE:
            return every
        kinds: Any = TYPES
        kind = schema.get("type")
        if isinstance(kind, str):  # most schemas are of one type and speak of nothing else
            if kind == "object" and groups & ~SHALLOW == OBJECT:
                return new(Shape, (False, 0, (), (), (), self._objects(schema, expr)))
            if kind == "array" and groups & ~SHALLOW == ARRAY:
                return new(Shape, (False, 0, (), (), self._arrays(schema, expr), ()))
            if kind == "string" and groups == TYPE | VALUE and ("enum" in schema) != ("const" in schema):
                keyword = "enum" if "enum" in schema else "const"
                return new(Shape, (False, 0, (), self._values(schema[keyword], keyword, expr).str, (), ()))
        if groups & TYPE:
            kinds = self._types(schema["type"], expr)
        if "format" in schema:
            self._check_format(schema["format"], expr)
        num: tuple[Num, ...] = NUMS_ANY if "number" in kinds else NUMS_INTEGER if "integer" in kinds else ()
        if num and groups & NUMBER:
            num = self._numbers(schema, num[0], expr)
        strs: Strings = STRS_ANY if "string" in kinds else ()
        if strs and groups & STRING:
            strs = self._strings(schema, expr)
        arr: tuple[Arr, ...] = ()
        if "array" in kinds:
            arr = self._arrays(schema, expr) if groups & ARRAY else every.arr
        obj: tuple[Obj, ...] = ()
        if "object" in kinds:
            obj = self._objects(schema, expr) if groups & OBJECT else every.obj
        made = new(Shape, ("null" in kinds, 3 if "boolean" in kinds else 0, num, strs, arr, obj))
        if groups & VALUE:
            for keyword in ("const", "enum"):
                if keyword in schema:
                    made = self._algebra.meet(made, self._values(schema[keyword], keyword, expr))
        return made

    def _types(self, found: Any, expr: Expr) -> Any:
        if isinstance(found, str):
            if found in TYPES:
                return (found,)
        elif isinstance(found, list) and found and all(isinstance(x, str) and x in TYPES for x in found):
            return found
        raise self._fault(expr, "type", f"one or more of {', '.join(sorted(TYPES))}", found)

    def _count(self, schema: dict[str, Any], keyword: str, expr: Expr) -> int | None:
        if keyword not in schema:
            return None
        value = as_integer(schema[keyword])
        if value is None or value < 0:
            raise self._fault(expr, keyword, "a non-negative integer", schema[keyword])
        if value > MOST_COUNT and keyword.startswith("min"):
            self.refuse(expr, keyword, f"it is above {MOST_COUNT}", "Use a number that a text can reach.")
        return min(value, MOST_COUNT)

    def _check_format(self, name: Any, expr: Expr) -> None:
        if not isinstance(name, str):
            raise self._fault(expr, "format", "the name of a format (a string)", name)
        if name not in formats.KNOWN and self.settings.unknown_formats != "ignore":
            known = ", ".join(sorted(formats.KNOWN))
            hint = f'Known are: {known}. Or pass unknown_formats="ignore".'
            self.refuse(expr, "format", f"there is no exact rule for the format {name!r}", hint)

    # -- scalars ------------------------------------------------------------------------------

    def _number(self, schema: dict[str, Any], keyword: str, expr: Expr) -> Exact:
        value = schema[keyword]
        if not is_number(value):
            raise self._fault(expr, keyword, "a number", value)
        exact = as_exact(value)
        if exact is None:
            self.refuse(expr, keyword, "its exponent is beyond 5,000", "Use a number of ordinary size.")
            raise AssertionError
        return exact

    def _numbers(self, schema: dict[str, Any], record: Num, expr: Expr) -> tuple[Num, ...]:
        integer = record.integer
        for keyword, other, is_low in (
            ("minimum", "exclusiveMinimum", True), ("maximum", "exclusiveMaximum", False)
        ):  # fmt: skip
            bounds: list[tuple[Exact, bool]] = []
            strict = schema.get(other)
            if keyword in schema:
                bounds.append((self._number(schema, keyword, expr), strict is True))
            if other in schema and not isinstance(strict, bool):
                bounds.append((self._number(schema, other, expr), True))
            for value, is_open in bounds:
                bound = Num(low=value, low_open=is_open) if is_low else Num(high=value, high_open=is_open)
                met = both_numbers(record, bound)
                if met is None:
                    return ()
                record = met
        if "multipleOf" in schema:
            step = self._number(schema, "multipleOf", expr)
            if step <= 0:
                raise self._fault(expr, "multipleOf", "a number above 0", schema["multipleOf"])
            record = both_numbers(record, Num(multiple=step)) or record
        bounds_of = formats.INTEGER_RANGES.get(schema.get("format", ""))
        if bounds_of is not None:
            # a range of integers; other numbers are left alone
            met = both_numbers(record, Num(low=bounds_of[0], high=bounds_of[1]))
            inside = () if met is None else (met,)
            if integer:
                return inside
            other_numbers = both_numbers(record, Num(not_multiples=(1,)))
            whole = both_numbers(NUM_INTEGER, inside[0]) if inside else None
            return tuple(r for r in (whole, other_numbers) if r is not None)
        return (record,)

    def _strings(self, schema: dict[str, Any], expr: Expr) -> Strings:
        low = self._count(schema, "minLength", expr) or 0
        high = self._count(schema, "maxLength", expr)
        if high is not None and low > high:
            return ()
        tests: list[tuple[str, str, bool]] = []
        if "pattern" in schema:
            text = schema["pattern"]
            if not isinstance(text, str):
                raise self._fault(expr, "pattern", "a regular expression (a string)", text)
            self.check_pattern(text, expr, "pattern")
            tests.append(("pattern", text, True))
        name = schema.get("format")
        if name in formats.PATTERNS:
            tests.append(("format", name, True))
        if not (low or high is not None or tests):
            return STRS_ANY
        return (Str(low, high, tuple(tests)),)

    def _values(self, found: Any, keyword: str, expr: Expr) -> Shape:
        if keyword == "const":
            found = [found]
        elif not isinstance(found, list) or not found:
            raise self._fault(expr, "enum", "a list of at least one value", found)
        null, bools = False, 0
        texts: dict[str, None] = {}
        numbers: dict[Any, dict[str, None]] = {}
        arrays: list[Arr] = []
        objects: list[Obj] = []
        where, context = (expr.where, keyword), expr.resource
        for value in found:
            if isinstance(value, str):
                texts[value] = None
            elif value is None:
                null = True
            elif isinstance(value, bool):
                bools |= 2 if value else 1
            elif isinstance(value, list):
                items = tuple(self.constant(item, where, context) for item in value)
                arrays.append(Arr(items, self.exprs.false, len(items)))
            elif isinstance(value, dict):
                props = {name: self.constant(item, where, context) for name, item in value.items()}
                names = frozenset(props)
                closed = (Rule((), names, self.exprs.false),)
                objects.append(Obj(props, {}, names, closed, seen=(names, ())))
            else:
                exact = as_exact(value)
                own = numbers.setdefault(str(value) if exact is None else exact, {})
                spelling = getattr(value, "spelling", None)
                if spelling is not None:
                    own[spelling] = None
        num = (Num(values=tuple((v, tuple(own)) for v, own in numbers.items())),) if numbers else ()
        strs = (Str(values=tuple(texts)),) if texts else ()
        return Shape(null, bools, num, strs, tuple(arrays), tuple(objects))

    # -- arrays -------------------------------------------------------------------------------

    def _schemas(self, found: Any, keyword: str, expr: Expr) -> list[Expr]:
        if not isinstance(found, list):
            raise self._fault(expr, keyword, "a list of schemas", found)
        where, context = (expr.where, keyword), expr.resource
        return [self.atom(sub, (where, str(i)), context) for i, sub in enumerate(found)]

    def _sub(self, schema: dict[str, Any], keyword: str, expr: Expr) -> Expr:
        if keyword not in schema:
            return self.exprs.true
        return self.atom(schema[keyword], (expr.where, keyword), expr.resource)

    def _arrays(self, schema: dict[str, Any], expr: Expr) -> tuple[Arr, ...]:
        low = self._count(schema, "minItems", expr) or 0 if "minItems" in schema else 0
        high = self._count(schema, "maxItems", expr) if "maxItems" in schema else None
        prefix: list[Expr] = []
        rest_keyword = "items"
        if "prefixItems" in schema:
            prefix = self._schemas(schema["prefixItems"], "prefixItems", expr)
        if isinstance(schema.get("items"), list):
            if prefix:
                raise self._fault(expr, "items", 'a schema beside "prefixItems"', schema["items"])
            prefix, rest_keyword = self._schemas(schema["items"], "items", expr), "additionalItems"
        rest = self._sub(schema, rest_keyword, expr)
        contains: tuple[Contains, ...] = ()
        looked: tuple[Expr, ...] = ()
        if "contains" in schema:
            wanted = self._sub(schema, "contains", expr)
            least = self._count(schema, "minContains", expr)
            most = self._count(schema, "maxContains", expr)
            least = 1 if least is None else least
            if most is not None and least > most:
                return ()
            if least or most is not None:
                contains = (Contains(0, wanted, least, most),)
            looked = (wanted,)
        unique = schema.get("uniqueItems", False)
        if not isinstance(unique, bool):
            raise self._fault(expr, "uniqueItems", "a boolean", unique)
        if rest.kind == FALSE_KIND and (high is None or high > len(prefix)):
            high = len(prefix)
        if high is not None and low > high:
            return ()
        seen = (len(prefix), rest_keyword in schema, looked)
        distinct = expr if unique and high not in (0, 1) else None
        return (new(Arr, (tuple(prefix), rest, low, high, contains, distinct, seen)),)

    # -- objects ------------------------------------------------------------------------------

    def _map(self, schema: dict[str, Any], keyword: str, expr: Expr) -> dict[str, Any]:
        found = schema.get(keyword)
        if found is None and keyword not in schema:
            return {}
        if not isinstance(found, dict):
            raise self._fault(expr, keyword, "an object", found)
        return found

    def _names(self, found: Any, keyword: str, expr: Expr, *more: str) -> list[str]:
        if not isinstance(found, list) or not all(isinstance(x, str) for x in found):
            raise fault(pointer(expr.where, keyword, *more), "a list of names", found)
        return found

    def _objects(self, schema: dict[str, Any], expr: Expr) -> tuple[Obj, ...]:
        exprs, atom, context = self.exprs, self.atom, expr.resource
        where = (expr.where, "properties")
        named = self._map(schema, "properties", expr) if "properties" in schema else {}
        props = {name: atom(sub, (where, name), context) for name, sub in named.items()}
        declared = frozenset(props)
        rules: list[Rule] = []
        languages: list[Strings] = []
        if "patternProperties" in schema:
            where = (expr.where, "patternProperties")
            for text, sub in self._map(schema, "patternProperties", expr).items():
                self.check_pattern(text, expr, "patternProperties")
                language = (Str(tests=(("pattern", text, True),)),)
                languages.append(language)
                value = atom(sub, (where, text), context)
                if value.kind != TRUE_KIND:
                    rules.append(Rule(((language, True),), NO_NAMES, value))
        if "propertyNames" in schema:
            keys = self._algebra.shape(self._sub(schema, "propertyNames", expr)).str
            if keys is not STRS_ANY:
                rules.append(Rule(((keys, False),), NO_NAMES, exprs.false))
        if rules:
            for rule in rules:
                for name in props:
                    if applies(rule, name, self.matches):
                        props[name] = exprs.conj(props[name], rule.expr)
        extra = self._sub(schema, "additionalProperties", expr) if "additionalProperties" in schema else exprs.true
        if extra.kind != TRUE_KIND:
            rules.append(Rule(tuple((language, False) for language in languages), declared, extra))
        late: dict[str, int] = {}
        required = NO_NAMES
        if "required" in schema:
            names = self._names(schema["required"], "required", expr)
            required = frozenset(names)
            for name in names:
                if name not in props:
                    value = exprs.true
                    for rule in rules:
                        if applies(rule, name, self.matches):
                            value = exprs.conj(value, rule.expr)
                    props[name], late[name] = value, 1
                if props[name].kind == FALSE_KIND:
                    return ()
        low = self._count(schema, "minProperties", expr) or 0 if "minProperties" in schema else 0
        high = self._count(schema, "maxProperties", expr) if "maxProperties" in schema else None
        if high is not None and max(low, len(required)) > high:
            return ()
        everything = "additionalProperties" in schema
        seen = None if everything else (declared, tuple(languages)) if declared or languages else UNSEEN
        record = new(Obj, (props, late, required, tuple(rules), low, high, (), seen))
        if "dependentRequired" in schema:
            return self._dependent(self._map(schema, "dependentRequired", expr), "dependentRequired", expr, (record,))
        return (record,)

    def _dependent(
        self, triggers: dict[str, Any], keyword: str, expr: Expr, records: tuple[Obj, ...]
    ) -> tuple[Obj, ...]:
        """Each trigger is absent, or all names that it asks for are there."""
        algebra, true = self._algebra, self.exprs.true
        self._here = expr, keyword
        for trigger, names in triggers.items():
            wanted = dict.fromkeys((trigger, *self._names(names, keyword, expr, trigger)))
            if len(wanted) == 1:
                continue
            ranks = dict.fromkeys(wanted, 2)
            cases = (
                Obj({trigger: self.exprs.false}, {trigger: 2}, NO_NAMES),
                Obj(dict.fromkeys(wanted, true), ranks, frozenset(wanted)),
            )
            records = tuple(algebra.meet_records(records, cases))
        return records


def _leaf_key(words: frozenset[str], schema: dict[str, Any], context: Context) -> object:
    """A key of a schema that is equal where the same is asked; None for all but the simplest schemas.

    Whatever stands in it is a string, a number or a schema that is one reference or type.
    """
    values: list[object] = []
    for word in sorted(words):
        value = schema[word]
        if isinstance(value, list):
            items: list[object] = []
            for item in value:
                if not isinstance(item, str):
                    item = _only_link(item)
                    if item is None or word == "enum":
                        return None
                items.append(item)
            value = tuple(items)
        elif isinstance(value, dict):
            value = _only_link(value)
            if value is None or word == "const":
                return None
        elif word == "const" and not isinstance(value, str):
            return None
        values.append(value)
    return words, tuple(values), tuple(map(type, values)), id(context)


def _only_link(schema: object) -> tuple[str, str] | None:
    """The one reference or type that a schema is, or None."""
    if isinstance(schema, dict) and len(schema) == 1:
        for name, value in schema.items():
            if name in ("$ref", "type") and isinstance(value, str):
                return name, value
    return None
