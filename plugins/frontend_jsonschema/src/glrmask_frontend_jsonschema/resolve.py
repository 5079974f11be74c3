"""References: JSON pointers, identifiers, anchors, dynamic scopes, other documents.

A *resource* is a document or an embedded schema with an identifier of its own; a *context* is a resource
together with the dynamic scope it was reached by. Local pointers are followed directly; the index of
identifiers and anchors is made when a reference first needs it. Scopes are tracked only in documents that
use ``$dynamicRef`` or ``$recursiveRef``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from glrmask_core.errors import GrammarError

from .reading import read_json
from .refuse import Document, Refusal, Where, fault, pointer
from .settings import Settings, resource_text
from .support import HOLDERS

DYNAMIC_WORDS = ('"$dynamicRef"', '"$recursiveRef"')
_OLD = ("draft-03", "draft-04", "draft-06", "draft-07")
_LATER = ("draft-06", "draft-07", "2019-09", "2020-12")
MOST_CONTEXTS = 10_000


class NeedsScopes(Exception):
    """Dynamic references turned up in a compile that did not track scopes; it starts again with them."""


class Resource:
    """A schema that references can name.

    Attributes:
        root, where, uri: the schema, where it stands, its absolute identifier ("" without one).
        anchors, dynamic: name to (schema, where); ``dynamic`` holds those of ``$dynamicAnchor`` only.
        old: draft 7 or older, where ``$ref`` hides the identifier beside it.
    """

    __slots__ = ("_document", "anchors", "dynamic", "old", "plain_id", "root", "uri", "where")

    def __init__(self, root: Any, where: Where, uri: str, parent: Resource | None) -> None:
        self.root, self.where, self.uri = root, where, uri
        self._document: Resource | None = parent.document if parent else None
        self.anchors: dict[str, tuple[Any, Where]] = {}
        self.dynamic: dict[str, tuple[Any, Where]] = {}
        dialect = root.get("$schema") if isinstance(root, dict) else None
        self.old: bool = any(x in dialect for x in _OLD) if isinstance(dialect, str) else bool(parent and parent.old)
        # "id" identifies in draft 4, and where no draft is named
        self.plain_id: bool = (
            not any(x in dialect for x in _LATER) if isinstance(dialect, str) else parent is None or parent.plain_id
        )

    @property
    def document(self) -> Resource:
        """The outermost resource."""
        return self if self._document is None else self._document


class Context:
    """A resource and, where scopes matter, the resources passed on the way to it (outermost first)."""

    __slots__ = ("resource", "scope")

    def __init__(self, resource: Resource, scope: tuple[Resource, ...]) -> None:
        self.resource, self.scope = resource, scope


class Resolver:
    """Resolves the references of one compile."""

    def __init__(self, root: Any, settings: Settings, scoped: bool) -> None:
        self.settings = settings
        self.scoped = scoped
        self._embedded: dict[int, Resource] = {}
        self._by_uri: dict[str, Resource] = {}
        self._indexed: set[int] = set()
        self._contexts: dict[object, Context] = {}
        uri = self._own_id(root) if isinstance(root, dict) else ""
        self.document = Resource(root, None, uri, None)
        self._by_uri[uri] = self.document
        self.start = self._context(self.document, (self.document,) if scoped else ())

    # -- contexts -----------------------------------------------------------------------------

    def _context(self, resource: Resource, scope: tuple[Resource, ...]) -> Context:
        key = (id(resource), *map(id, scope))
        made = self._contexts.get(key)
        if made is None:
            if len(self._contexts) >= MOST_CONTEXTS:
                raise GrammarError(f"more than {MOST_CONTEXTS} dynamic scopes; simplify the use of $dynamicRef")
            made = self._contexts[key] = Context(resource, scope)
        return made

    def _enter(self, context: Context, resource: Resource) -> Context:
        if resource is context.resource:
            return context
        scope = context.scope
        if self.scoped and resource not in scope:
            scope = (*scope, resource)
        return self._context(resource, scope)

    def inside(self, schema: dict[str, Any], context: Context) -> Context:
        """The context of a schema that has an identifier, met inside ``context``."""
        if schema is context.resource.root:
            return context
        self._index(context.resource.document)
        found = self._embedded.get(id(schema))
        return context if found is None else self._enter(context, found)

    # -- references ---------------------------------------------------------------------------

    def resolve(
        self, ref: object, schema: Any, where: Where, context: Context, keyword: str = "$ref"
    ) -> tuple[Any, Where, Context]:
        """The schema that ``$ref`` names: (schema, its place, its context)."""
        if not isinstance(ref, str):
            raise fault(pointer(where, keyword), "a reference (a string)", ref)
        if ref[:1] == "#" and (len(ref) == 1 or ref[1] == "/"):
            return self._pointer(ref, ref[1:], context.resource, where, context, keyword)
        resource, fragment = self._locate(ref, schema, where, context, keyword)
        if not fragment or fragment[0] == "/":
            return self._pointer(ref, fragment, resource, where, context, keyword)
        self._index(resource.document)
        found = resource.anchors.get(unquote(fragment))
        if found is None:
            names = ", ".join(sorted(resource.anchors)) or "none"
            raise fault(pointer(where, keyword), f"an anchor of the resource {resource.uri!r} (it has: {names})", ref)
        return found[0], found[1], self._enter(context, resource)

    def resolve_dynamic(self, ref: object, schema: Any, where: Where, context: Context) -> tuple[Any, Where, Context]:
        """The same for ``$dynamicRef``: the outermost scope that has the dynamic anchor wins."""
        if not self.scoped:
            raise NeedsScopes
        found = self.resolve(ref, schema, where, context, "$dynamicRef")
        name = unquote(urldefrag(str(ref)).fragment)
        self._index(found[2].resource.document)
        here = found[2].resource.dynamic.get(name)
        if here is None or here[0] is not found[0]:
            return found
        for resource in context.scope:
            self._index(resource.document)
            if name in resource.dynamic:
                schema, place = resource.dynamic[name]
                return schema, place, self._enter(context, resource)
        return found

    def resolve_recursive(self, schema: Any, where: Where, context: Context) -> tuple[Any, Where, Context]:
        """The same for ``$recursiveRef: "#"``."""
        if not self.scoped:
            raise NeedsScopes
        own = context.resource
        if isinstance(own.root, dict) and own.root.get("$recursiveAnchor") is True:
            for resource in context.scope:
                if isinstance(resource.root, dict) and resource.root.get("$recursiveAnchor") is True:
                    own = resource
                    break
        return own.root, own.where, self._enter(context, own)

    def _pointer(
        self, ref: str, fragment: str, resource: Resource, where: Where, context: Context, keyword: str
    ) -> tuple[Any, Where, Context]:
        try:
            return self._walk(ref, fragment, resource, where, context, keyword)
        except GrammarError:
            if resource is resource.document or not resource.plain_id:
                raise
            # Draft 4 tools write "id" for other purposes and point from the document; only tried on failure.
            return self._walk(ref, fragment, resource.document, where, context, keyword)

    def _walk(
        self, ref: str, fragment: str, resource: Resource, where: Where, context: Context, keyword: str
    ) -> tuple[Any, Where, Context]:
        at, place, found = resource.root, resource.where, self._enter(context, resource)
        if not fragment:
            return at, place, found
        parts = (unquote(fragment) if "%" in fragment else fragment).split("/")
        for i in range(1, len(parts)):
            part = parts[i].replace("~1", "/").replace("~0", "~") if "~" in parts[i] else parts[i]
            if isinstance(at, dict) and part in at:
                at = at[part]
            elif isinstance(at, list) and part.isascii() and part.isdigit() and int(part) < len(at):
                at = at[int(part)]
            else:
                known = list(at)[:8] if isinstance(at, dict) else f"0..{len(at) - 1}" if isinstance(at, list) else at
                there = "/".join(parts[:i])
                raise fault(
                    pointer(where, keyword), f"{ref!r} to exist ({part!r} is not in #{there}, which has {known})", ref
                )
            place = (place, part)
            if i < len(parts) - 1 and isinstance(at, dict) and isinstance(at.get("$id", at.get("id")), str):
                found = self.inside(at, found)
        return at, place, found

    def _locate(self, ref: str, schema: Any, where: Where, context: Context, keyword: str) -> tuple[Resource, str]:
        base = context.resource.uri
        uri, fragment = urldefrag(_join(base, ref))
        found = self._by_uri.get(uri)
        if found is None:
            self._index(context.resource.document)
            found = self._by_uri.get(uri) or self._load(uri)
        if found is None:
            if ref[:1] == "/":
                hint = f'Write "#{ref}" if a place in this schema is meant, or give the document in resources.'
            else:
                hint = "Give the document in resources={uri: schema}."
            raise Refusal(schema, pointer(where, keyword), keyword, f"{uri!r} is not in this schema", hint)
        return found, fragment

    # -- documents ----------------------------------------------------------------------------

    def _load(self, uri: str) -> Resource | None:
        resources = self.settings.resources
        for key in (uri, uri + "#"):
            if key in resources:
                text = resource_text(key, resources[key])
                if not self.scoped and any(word in text for word in DYNAMIC_WORDS):
                    raise NeedsScopes
                return self._add(read_json(text), uri)
        if "json-schema.org/" not in uri:
            return None
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
        from referencing.exceptions import NoSuchResource

        for key in (uri, uri + "#"):
            try:
                contents = REGISTRY[key].contents
            except (NoSuchResource, KeyError):
                continue
            if not self.scoped and ("2019-09" in uri or "2020-12" in uri):
                raise NeedsScopes
            return self._add(contents, uri)
        return None

    def _add(self, root: Any, uri: str) -> Resource:
        own = self._own_id(root) if isinstance(root, dict) else ""
        made = Resource(root, (None, Document(uri)), _join(uri, own) if own else uri, None)
        self._by_uri[uri] = made
        self._by_uri.setdefault(made.uri, made)
        self._index(made)
        return made

    @staticmethod
    def _own_id(schema: dict[str, Any]) -> str:
        found = schema.get("$id", schema.get("id"))
        return urldefrag(found).url if isinstance(found, str) else ""

    def _index(self, document: Resource) -> None:
        """Find identifiers and anchors at all places that hold schemas, without recursion."""
        if id(document) in self._indexed:
            return
        self._indexed.add(id(document))
        todo: list[tuple[Any, Where, Resource]] = [(document.root, document.where, document)]
        while todo:
            schema, where, resource = todo.pop()
            if not isinstance(schema, dict):
                continue
            if schema is not resource.root:
                resource = self._identify(schema, where, resource)
            for keyword in ("$anchor", "$dynamicAnchor"):
                name = schema.get(keyword)
                if isinstance(name, str):
                    resource.anchors[name] = (schema, where)
                    if keyword == "$dynamicAnchor":
                        resource.dynamic[name] = (schema, where)
            for key, value in schema.items():
                holds = HOLDERS.get(key)
                if holds is None:
                    continue
                if isinstance(value, dict) and holds == "map":
                    todo += [(sub, ((where, key), name), resource) for name, sub in value.items()]
                elif isinstance(value, list):
                    todo += [(sub, ((where, key), str(i)), resource) for i, sub in enumerate(value)]
                else:
                    todo.append((value, (where, key), resource))

    def _identify(self, schema: dict[str, Any], where: Where, resource: Resource) -> Resource:
        found = schema.get("$id")
        if found is None and resource.plain_id:
            found = schema.get("id")
        if not isinstance(found, str) or (resource.old and "$ref" in schema):
            return resource
        url, fragment = urldefrag(found)
        if fragment:
            resource.anchors.setdefault(fragment, (schema, where))
        if not url:
            return resource
        made = Resource(schema, where, _join(resource.uri, url), resource)
        self._embedded[id(schema)] = made
        self._by_uri.setdefault(made.uri, made)
        return made


def _join(base: str, ref: str) -> str:
    if ref[:1] == "#":
        return base + ref
    if base[:4] == "urn:":
        return ref
    return urljoin(base, ref) if base else ref
