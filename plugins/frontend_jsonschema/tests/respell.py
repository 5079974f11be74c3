"""Instances as the front-end accepts them: keys in schema order, numbers and strings in accepted spellings.

Independent of the front-end's own code: the order is found by walking the schema text. Where a schema has
alternatives, those that the value satisfies (as ``jsonschema`` says) give the order.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import jsonschema


def resolve(root: Any, ref: Any) -> Any:
    if not isinstance(ref, str):
        return None
    if not ref.startswith("#"):
        return _identified(root, ref)
    at = root
    for part in ref[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%22", '"')
        if isinstance(at, dict):
            at = at.get(part)
        elif isinstance(at, list) and part.isdigit() and int(part) < len(at):
            at = at[int(part)]
        else:
            return None
    return at


def _identified(schema: Any, name: str) -> Any:
    if isinstance(schema, dict):
        if schema.get("$id") == name:
            return schema
        for value in schema.values():
            found = _identified(value, name)
            if found is not None:
                return found
    return None


def fits(schema: Any, value: Any, root: Any) -> bool:
    """Whether a value satisfies a sub-schema; True when that cannot be found out."""
    try:
        kind = jsonschema.validators.validator_for(root, default=jsonschema.Draft202012Validator)
        return bool(kind(root if isinstance(root, dict) else {}).evolve(schema=schema).is_valid(value))
    except Exception:
        return True


def _facets(schema: Any, root: Any, value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The schema objects that apply to the value, in text order."""
    if not isinstance(schema, dict) or depth > 12:
        return []
    out: list[dict[str, Any]] = []
    placed = False
    for key, found in schema.items():
        if key == "properties":
            out.append(schema)
            placed = True
        elif key in ("$ref", "$dynamicRef", "$recursiveRef"):
            out += _facets(resolve(root, found), root, value, depth + 1)
        elif key == "allOf" and isinstance(found, list):
            for sub in found:
                out += _facets(sub, root, value, depth + 1)
        elif key in ("anyOf", "oneOf") and isinstance(found, list):
            fitting = [sub for sub in found if fits(sub, value, root)]
            for sub in fitting[:1] or found:
                out += _facets(sub, root, value, depth + 1)
        elif key == "if":
            branch = schema.get("then" if fits(found, value, root) else "else")
            out += _facets(branch, root, value, depth + 1)
    if not placed:
        out.append(schema)
    late = []
    for key, found in schema.items():
        if key in ("if", "not"):
            late += _facets(found, root, value, depth + 1)
        elif key in ("dependentSchemas", "dependencies") and isinstance(found, dict):
            for name, sub in found.items():
                if isinstance(value, dict) and name in value:
                    late += _facets(sub, root, value, depth + 1)
    return out + [{"_late": facet} for facet in late]


def order_of(schema: Any, root: Any, value: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Names in schema order, and the facets."""
    facets = _facets(schema, root, value)
    names: dict[str, None] = {}
    for facet in facets:
        if isinstance(facet.get("properties"), dict):
            names.update(dict.fromkeys(facet["properties"]))
    for facet in facets:
        if isinstance(facet.get("required"), list):
            names.update(dict.fromkeys(n for n in facet["required"] if isinstance(n, str)))
    for facet in facets:
        for keyword in ("dependentRequired", "dependencies", "dependentSchemas"):
            found = facet.get(keyword)
            if isinstance(found, dict):
                for trigger, more in found.items():
                    names.update({trigger: None})
                    if isinstance(more, list):
                        names.update(dict.fromkeys(n for n in more if isinstance(n, str)))
    for facet in facets:
        late = facet.get("_late")
        while isinstance(late, dict) and "_late" in late:
            late = late["_late"]
        if isinstance(late, dict):
            for keyword in ("properties", "required"):
                if isinstance(late.get(keyword), (dict, list)):
                    names.update(dict.fromkeys(n for n in late[keyword] if isinstance(n, str)))
    return list(names), facets


def reorder(value: Any, schema: Any, root: Any, depth: int = 0) -> Any:
    """The value with the keys of all objects in schema order."""
    if depth > 60:
        return value
    if isinstance(value, list):
        _, facets = order_of(schema, root, value)
        out = []
        for i, item in enumerate(value):
            sub: list[Any] = []
            for facet in facets:
                prefix = facet.get("prefixItems", facet.get("items") if isinstance(facet.get("items"), list) else [])
                if isinstance(prefix, list) and i < len(prefix):
                    sub.append(prefix[i])
                elif isinstance(facet.get("items"), dict):
                    sub.append(facet["items"])
                elif isinstance(facet.get("additionalItems"), dict):
                    sub.append(facet["additionalItems"])
                sub += [facet[k] for k in ("contains", "unevaluatedItems") if isinstance(facet.get(k), dict)]
            out.append(reorder(item, {"allOf": sub}, root, depth + 1))
        return out
    if not isinstance(value, dict):
        return value
    names, facets = order_of(schema, root, value)
    for facet in facets:
        same = [v for v in (facet.get("const"), *facet.get("enum", ())) if isinstance(v, dict) and v == value]
        if same:
            names = list(same[0])
    keys = [n for n in names if n in value] + [n for n in value if n not in names]
    made = {}
    for key in keys:
        sub = []
        for facet in facets:
            facet = facet.get("_late", facet)
            found = False
            if isinstance(facet.get("properties"), dict) and key in facet["properties"]:
                sub.append(facet["properties"][key])
                found = True
            if isinstance(facet.get("patternProperties"), dict):
                sub += list(facet["patternProperties"].values())
            if not found:
                others = ("additionalProperties", "unevaluatedProperties")
                sub += [facet[k] for k in others if isinstance(facet.get(k), dict)]
        made[key] = reorder(value[key], {"allOf": sub}, root, depth + 1)
    return made


def spell(value: Any) -> str:
    """JSON text with numbers as integers where integral, else decimals without exponent."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (float, Decimal)):
        exact = Decimal(repr(value)) if isinstance(value, float) else value
        if exact == exact.to_integral_value() and exact.adjusted() < 400:
            return str(int(exact))
        return f"{exact.normalize():f}" if abs(exact.adjusted()) < 400 else str(exact)
    if isinstance(value, list):
        return "[" + ",".join(map(spell, value)) + "]"
    return "{" + ",".join(f"{json.dumps(k, ensure_ascii=False)}:{spell(v)}" for k, v in value.items()) + "}"
