"""IR to GLRM text.

What GLRM can say is said exactly; the rest is refused by name: numbered exact tokens, exempt terminals,
any-order lists, and scopes or slots that no nesting of subgrammars produces. Printing what was parsed from
a printed text gives that text again: names are kept, definitions stand in the order of their first use, and
nothing depends on node numbers.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from glrmask_core.errors import GrammarError
from glrmask_core.grammar_text import MAX_NESTING, Task, run
from glrmask_core.ir import (
    ANY_ORDER,
    CALL,
    EXTERN_GRAMMAR,
    EXTERN_TOKEN,
    SCOPE,
    TERMINAL,
    TOKEN_IDS,
    Module,
)

from .expressions import Expressions
from .plan import Plan, scope_children

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_]")
REFUSED = {TOKEN_IDS: "exact tokens by number", ANY_ORDER: "any-order lists"}
MAX_TEXT = 64 << 20  # characters; scopes that share rules are printed once per scope


def to_glrm(module: Module) -> str:
    """The module as a GLRM document.

    Raises:
        GrammarError: it holds something that GLRM cannot express.

    Cost: linear in the module, times the number of scopes that share a rule.
    """
    op, start, ignore, _ = module.row(module.root)
    if op != SCOPE:
        start, ignore = module.root, -1
    document = _Scope(module, start, ignore, (), _Shared(module))
    lines = run(document.lines())
    missing = [slot for slot in module.slots if slot not in document.shared.declared]
    if missing:
        raise GrammarError(f'slot "{missing[0]}" is not used, and no subgrammar of its path could declare it')
    return "\n".join(["glrm 1;", "", *lines, ""])


class _Shared:
    """What all scopes of one print have in common."""

    def __init__(self, module: Module) -> None:
        self.declared: set[str] = set()  # slots
        self.open: dict[int, None] = {}  # SCOPE nodes being printed
        self.characters = 0
        self.module = module


class _Scope:
    """Prints one scope: the definitions that its start needs, in the order of first use."""

    def __init__(self, module: Module, start: int, ignore: int, path: tuple[str, ...], shared: _Shared) -> None:
        self._module = module
        self._start = start
        self._ignore = ignore
        self._path = path
        self.shared = shared
        self._plan = Plan(module, start, ignore)
        for op in self._plan.ops & REFUSED.keys():
            raise GrammarError(f"GLRM cannot express {REFUSED[op]}")
        self._names: dict[tuple[str, int], str] = {}  # what, number -> its name in this scope
        self._used: set[str] = {"eps"}
        self._todo: deque[tuple[str, int]] = deque()
        self._forced = self._forced_names()
        self._used.update(self._forced.values())
        self._expressions = Expressions(module, self._plan, self._reference)

    def lines(self) -> Task[list[str]]:
        """The items of the scope, one per line (a subgrammar takes several)."""
        if len(self._path) > MAX_NESTING // 2:
            raise GrammarError(f"scopes nest deeper than {MAX_NESTING // 2}, which no GLRM text does")
        head = [f"start {self._start_name()};"]
        if self._ignore >= 0:
            head.append(f"ignore {self._name_of('ignore', self._ignore, 'IGNORED')};")
        body: list[str] = []
        while self._todo:
            what, number = self._todo.popleft()
            body += yield self._definition(what, number)
        prefix = "".join(f"{name}::" for name in self._path)
        for slot, kind in self._module.slots.items():
            if slot not in self.shared.declared and slot.startswith(prefix) and IDENTIFIER.match(slot[len(prefix) :]):
                name = slot[len(prefix) :]
                if name in self._used:
                    raise GrammarError(f'slot "{slot}" has the name of a rule')
                self._declare_slot(slot)
                body.append(f"extern {kind} {name};")
        return [*head, *body]

    # -- names --------------------------------------------------------------------------------

    def _start_name(self) -> str:
        op = self._module.row(self._start)[0]
        if op in (CALL, SCOPE) or (op == TERMINAL and not self._plan.is_inline(self._start)):
            return self._reference(self._start)
        return self._name_of("nt", self._start, "start")

    def _reference(self, node: int) -> str:
        """The name that stands for a node that is not written in place."""
        op, a, _, c = self._module.row(node)
        names = self._module.names
        if op == CALL:
            body = self._module.rules[2 * a + 1]
            if self._module.row(body)[0] == SCOPE:
                return self._name_of("g", body, names[self._module.rules[2 * a]])
            return self._name_of("rule", a, names[self._module.rules[2 * a]])
        if op == TERMINAL:
            return self._name_of("terminal", node, names[c] if c >= 0 else "T")
        if op == SCOPE:
            return self._name_of("g", node, "g1")
        if op in (EXTERN_GRAMMAR, EXTERN_TOKEN):
            return self._name_of("slot", node, names[a])
        return self._name_of("nt" if op > TERMINAL else "lexical", node, "part" if op > TERMINAL else "PART")

    def _name_of(self, what: str, number: int, wish: str) -> str:
        key = what, number
        if key not in self._names:
            if what == "slot":
                name = self._slot_name(wish)
            elif what == "g" and number in self._forced:
                name = self._forced[number]
            else:
                name = self._free(wish)
            self._names[key] = name
            self._todo.append(key)
        return self._names[key]

    def _free(self, wish: str) -> str:
        """An unused identifier like ``wish``."""
        base = NOT_IN_NAME.sub("_", wish.rpartition("::")[2]) or "_"
        if base[0].isdigit():
            base = "_" + base
        name, count = base, 1
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used.add(name)
        return name

    def _slot_name(self, slot: str) -> str:
        *path, name = slot.split("::")
        if tuple(path) != self._path or not IDENTIFIER.match(name):
            here = "".join(f"{part}::" for part in self._path) or "the outermost scope"
            raise GrammarError(f'slot "{slot}" is used in {here}, where GLRM cannot declare one of that name')
        if name in self._used:
            raise GrammarError(f'slot "{slot}" has the name of a rule')
        self._used.add(name)
        self._declare_slot(slot)
        return name

    def _declare_slot(self, slot: str) -> None:
        if slot in self.shared.declared:
            raise GrammarError(f'slot "{slot}" would be declared twice')
        self.shared.declared.add(slot)

    def _forced_names(self) -> dict[int, str]:
        """Names of subgrammars that the slots inside them ask for, by SCOPE node."""
        forced: dict[int, str] = {}
        depth = len(self._path)
        for node in self._plan.scopes:
            for slot in slots_below(self._module, node):
                parts = slot.split("::")
                if len(parts) < depth + 2 or tuple(parts[:depth]) != self._path:
                    raise GrammarError(f'slot "{slot}" is used in a subgrammar, where GLRM gives it a longer name')
                if forced.setdefault(node, parts[depth]) != parts[depth]:
                    raise GrammarError(f'slots of one subgrammar have different paths: "{slot}"')
        if len(set(forced.values())) < len(forced):
            raise GrammarError("two subgrammars hold slots of the same path")
        return forced

    # -- definitions --------------------------------------------------------------------------

    def _definition(self, what: str, number: int) -> Task[list[str]]:
        name = self._names[what, number]
        module = self._module
        if what == "g":
            _, start, ignore, _ = module.row(number)
            if number in self.shared.open:
                raise GrammarError("a scope contains itself, which GLRM cannot express")
            self.shared.open[number] = None
            inner: list[str] = yield _Scope(module, start, ignore, (*self._path, name), self.shared).lines()
            del self.shared.open[number]
            lines = [f"g {name} = {{", *(f"  {line}" for line in inner), "};"]
        elif what == "slot":
            kind = "grammar" if module.row(number)[0] == EXTERN_GRAMMAR else "token"
            lines = [f"extern {kind} {name};"]
        else:
            lines = [(yield self._rule(what, number, name))]
        self.shared.characters += sum(map(len, lines))
        if self.shared.characters > MAX_TEXT:
            raise GrammarError(f"the text would be longer than {MAX_TEXT} characters: scopes share rules")
        return lines

    def _rule(self, what: str, number: int, name: str) -> Task[str]:
        """One ``nt`` or ``t`` line."""
        write = self._expressions.body
        if what == "rule":
            text = yield write(self._module.rules[2 * number + 1], False)
        elif what == "terminal":
            _, lexical, exempt, _ = self._module.row(number)
            if exempt:
                raise GrammarError(f'terminal "{name}" is exempt from the longest match, which GLRM cannot express')
            text = yield write(lexical, False)
        elif what == "ignore":
            text = yield self._expressions.ignored(number)
        else:
            text = yield write(number, True)
        kind = {"rule": "nt", "nt": "nt", "terminal": "t", "ignore": "t", "lexical": "internal t"}[what]
        return f"{kind} {name} = {text};"


def slots_below(module: Module, node: int) -> Iterable[str]:
    """The slots that a SCOPE node reaches, scopes inside it included."""
    seen = {node}
    todo = [node]
    found: dict[str, None] = {}
    while todo:
        at = todo.pop()
        op, a, _, _ = module.row(at)
        if op in (EXTERN_GRAMMAR, EXTERN_TOKEN):
            found[module.names[a]] = None
        children = [a] if op == SCOPE else scope_children(module, at)
        for child in children:
            if child not in seen:
                seen.add(child)
                todo.append(child)
    return found
