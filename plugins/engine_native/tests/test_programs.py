"""Parser programs in the native engine: against a simulator on explicit stacks, and case by case."""

from __future__ import annotations

import itertools
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import glrmask
from glrmask import Constraint, ConstraintState, ParserProgram, Vocab
from glrmask_core.automata import DEAD, Automata
from glrmask_core.options import Limits, Optimization

# -- writing definitions --------------------------------------------------------------------------------------

IDLE: dict[str, Any] = {"start": 0, "states": [{"accepting": False, "transitions": []}]}


def graph(*states: tuple[bool, list[tuple[Any, int]]], start: int = 0) -> dict[str, Any]:
    return {
        "start": start,
        "states": [
            {
                "accepting": accepting,
                "transitions": [
                    {"label": label if label == "Default" else {"Symbol": label}, "target": target}
                    for label, target in edges
                ],
            }
            for accepting, edges in states
        ],
    }


def template(pop: Any = None, read: Any = None, push: Any = None, **links: Any) -> dict[str, Any]:
    return {
        "pop": pop or graph((True, [])),
        "read": read or IDLE,
        "push": push or IDLE,
        "pop_to_read": [],
        "pop_to_push": [],
        "read_to_push": [],
        **links,
    }


IDENTITY = template()


def pushes(*symbols: int) -> dict[str, Any]:
    """A template that pushes the symbols in order."""
    states = [(False, [(symbol, at + 1)]) for at, symbol in enumerate(symbols)]
    return template(graph((False, [])), push=graph(*states, (True, [])), pop_to_push=[0])


def pops(*labels: Any) -> dict[str, Any]:
    """A template that pops one top for each label."""
    return template(graph(*((False, [(label, at + 1)]) for at, label in enumerate(labels)), (True, [])))


def program(terminals: list[dict[str, Any]], completion: dict[str, Any], symbols: int = 3) -> ParserProgram:
    return ParserProgram({"stack_symbol_count": symbols, "terminals": terminals, "completion": completion})


EXACTLY_START = template(
    graph((False, [(0, 1)]), (False, [("Default", 2)]), (False, [])), push=graph((True, [])), pop_to_push=[None, 0]
)
BYTES = Vocab.from_id_to_bytes(
    dict(enumerate([*(bytes([b]) for b in range(32, 127)), b"\n", b"((", b"))", b"()", b""]))
)
END = 99  # the entry without bytes


def allowed(state: ConstraintState) -> set[int]:
    return {int(i) for i in np.flatnonzero(state.mask())}


def texts(constraint: Constraint, state: ConstraintState) -> set[bytes]:
    return {constraint.vocab.bytes_of(i) for i in allowed(state)}


def reads(constraint: Constraint, text: bytes) -> str:
    """ "yes", "live" or "no"."""
    state = constraint.start()
    try:
        state.commit_bytes(text)
    except glrmask.StateRejectedError:
        return "no"
    return "yes" if state.is_accepting() else "live"


# -- the oracle -----------------------------------------------------------------------------------------------


def walk(part: dict[str, Any], stack: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Every stack that a template emits: the definition read aloud."""
    out: set[tuple[int, ...]] = set()
    todo = [("pop", part["pop"]["start"], stack)]
    links = {"pop": (("pop_to_read", "read"), ("pop_to_push", "push")), "read": (("read_to_push", "push"),), "push": ()}
    while todo:
        name, number, at = todo.pop()
        state = part[name]["states"][number]
        if state["accepting"]:
            out.add(at)
        for link, other in links[name]:
            if number < len(part[link]) and part[link][number] is not None:
                todo.append((other, part[link][number], at))
        by = {
            x["label"] if x["label"] == "Default" else x["label"]["Symbol"]: x["target"] for x in state["transitions"]
        }
        if name == "push":
            todo += [("push", target, (*at, symbol)) for symbol, target in by.items()]
        elif at and name == "pop" and (at[-1] in by or "Default" in by):
            todo.append(("pop", by[at[-1]] if at[-1] in by else by["Default"], at[:-1]))
        elif at and name == "read" and at[-1] in by:
            todo.append(("read", by[at[-1]], at))
    return out


class TooMany(Exception):
    """More stacks than the oracle cares to list."""


class Oracle:
    """Acceptance and viability of whole texts, one derivation at a time."""

    def __init__(self, constraint: Constraint, ignore: int | None) -> None:
        assert constraint.program is not None
        self.definition = constraint.program.definition
        module = constraint.module
        self.automata = Automata(module)
        terminals = [module.row(body)[1] for body in module.rules[1::2]]
        self.languages = [self.automata.start(lexical) for lexical in terminals]
        self.ignore = ignore

    def __call__(self, text: bytes) -> tuple[bool, bool]:
        todo: list[tuple[int, frozenset[tuple[int, ...]]]] = [(0, frozenset([(0,)]))]
        seen = set(todo)
        accepting = live = False
        while todo:
            at, stacks = todo.pop()
            if at == len(text):
                live = True
                accepting = accepting or any(walk(self.definition["completion"], stack) for stack in stacks)
            for terminal, language in enumerate(self.languages):
                part = self.definition["terminals"][terminal]
                out = frozenset(new for stack in stacks for new in walk(part, stack))
                if len(out) > 200 or len(seen) > 200:
                    raise TooMany
                if out:
                    ends, unfinished = self.match(language, text, at)
                    live = live or unfinished
                    fresh = {(end, out) for end in (ends if terminal == self.ignore else ends[-1:])} - seen
                    seen |= fresh
                    todo += fresh
        return accepting, live

    def match(self, language: int, text: bytes, at: int) -> tuple[list[int], bool]:
        """Where it may end, and whether the text ends inside it."""
        ends: list[int] = []
        for i in range(at, len(text)):
            language = self.automata.step(language, text[i])
            if language == DEAD:
                return ends, False
            if self.automata.accepts(language):
                ends.append(i + 1)
        return ends, True


PATTERNS: list[bytes | str] = [
    b"a", b"b", b"ab", "[ab]+", " +", "a|abb", b"(", b")", "a{2,3}", "[ab]{1,2}b", "b{2,6}", "(ab)+a?", "(a|b{3}) ?",
]  # fmt: skip


def random_template(rng: random.Random, symbols: int) -> dict[str, Any]:
    def random_graph(default: bool, chance: float) -> dict[str, Any]:
        n = rng.randint(1, 4)
        labels: list[Any] = [*range(symbols), *(["Default"] if default else [])]
        return graph(
            *(
                (
                    rng.random() < 0.25,
                    [(x, rng.randint(q + 1, n - 1)) for x in labels if q < n - 1 and rng.random() < chance],
                )
                for q in range(n)
            )
        )

    def links(a: dict[str, Any], b: dict[str, Any], chance: float) -> list[int | None]:
        n = rng.randint(0, len(a["states"]))
        return [rng.randrange(len(b["states"])) if rng.random() < chance else None for _ in range(n)]

    pop, read, push = random_graph(True, 0.55), random_graph(False, 0.6), random_graph(False, 0.5)
    return template(
        pop,
        read,
        push,
        pop_to_read=links(pop, read, 0.4),
        pop_to_push=links(pop, push, 0.5),
        read_to_push=links(read, push, 0.5),
    )


def effects(rng: random.Random, symbols: int) -> dict[str, Any]:
    """A template of a few guesses, each taking up to two tops off and leaving up to three symbols."""
    labels: list[Any] = [*range(symbols), "Default"]
    pop: list[tuple[bool, list[tuple[Any, int]]]] = [(False, [])]
    push: list[tuple[bool, list[tuple[Any, int]]]] = []
    links: list[int | None] = [None]

    def down(states: list[tuple[bool, list[tuple[Any, int]]]], at: int, label: Any) -> int:
        """The target of an edge, made when there is none."""
        known: dict[Any, int] = dict(states[at][1])
        if label not in known:
            known[label] = len(states)
            states[at][1].append((label, len(states)))
            states.append((False, []))
        return known[label]

    for _ in range(rng.randint(1, 3)):
        at = 0
        for _ in range(rng.randint(0, 2)):
            at = down(pop, at, rng.choice(labels))
            links += [None] * (len(pop) - len(links))
        link = links[at]
        if link is None:
            link = links[at] = len(push)
            push.append((False, []))
        for _ in range(rng.randint(0, 3)):
            link = down(push, link, rng.randrange(symbols))
        push[link] = (True, push[link][1])
    return template(graph(*pop), push=graph(*push), pop_to_push=links)


def random_world(seed: int) -> tuple[ParserProgram, dict[str, Any], Vocab, random.Random]:
    rng = random.Random(seed)
    symbols = rng.randint(1, 4)
    patterns = rng.sample(PATTERNS, rng.randint(1, 5))
    roll = random_template if seed % 2 else effects
    terminals = [roll(rng, symbols) for _ in patterns]
    ignore = rng.randrange(len(patterns)) if rng.random() < 0.3 else None
    if ignore is not None:
        terminals[ignore] = IDENTITY
    tokens = [bytes(t) for n in (1, 2, 3, 4, 5) for t in itertools.product(b"ab ()", repeat=n)]
    chosen = [*(bytes([b]) for b in b"ab ()"), *rng.sample(tokens, 60)]
    vocab = Vocab.from_id_to_bytes(dict(enumerate([*chosen, b""])))
    made = program(terminals, roll(rng, symbols), symbols)
    return made, {"terminal_patterns": patterns, "ignore_terminal": ignore, "end_tokens": [len(chosen)]}, vocab, rng


def random_words(rng: random.Random) -> list[bytes]:
    return [b"", *(bytes(rng.choices(b"ab ()"[: rng.choice([2, 3, 5])], k=rng.randint(1, 7))) for _ in range(24))]


MODES = list(Optimization)


@pytest.mark.parametrize("first", range(0, 520, 20))
def test_random_programs(first: int) -> None:
    accepted = masked = too_many = 0
    for seed in range(first, first + 20):
        made, arguments, vocab, rng = random_world(seed)
        constraint = made.compile(vocab, optimization=MODES[seed % 4], **arguments)
        oracle, end = Oracle(constraint, arguments["ignore_terminal"]), arguments["end_tokens"][0]
        for word in random_words(rng)[:12]:
            tokens = rng.sample(range(end), 12)
            try:
                accepting, live = oracle(word)
                follow = {t: oracle(word + vocab.bytes_of(t))[1] for t in tokens} if live else {}
            except TooMany:
                too_many += 1
                continue
            outcome = "yes" if accepting else "live" if live else "no"
            assert (seed, word, outcome) == (seed, word, reads(constraint, word))
            accepted += accepting
            if live:
                state = constraint.start()
                state.commit_bytes(word)
                mask = state.mask()
                assert (seed, word, follow) == (seed, word, {t: bool(mask[t]) for t in tokens})
                assert accepting == mask[end]
                masked += len(tokens)
    assert accepted > 5 and masked > 300 and too_many < 40


@pytest.mark.parametrize("first", range(1000, 1040, 10))
def test_every_bit_agrees_with_a_commit_in_every_mode(first: int) -> None:
    for seed in range(first, first + 10):
        made, arguments, vocab, rng = random_world(seed)
        constraints = [made.compile(vocab, optimization=mode, **arguments) for mode in MODES]
        for word in random_words(rng)[:8]:
            states = [c.start() for c in constraints]
            if reads(constraints[0], word) == "no":
                assert all(reads(c, word) == "no" for c in constraints)
                continue
            for state in states:
                state.commit_bytes(word)
            bits = allowed(states[0])
            assert all(allowed(state) == bits for state in states[1:])
            for token in range(len(vocab)):
                copy = states[token % 4].clone()
                try:
                    copy.commit_token(token)
                except glrmask.StateRejectedError:
                    assert token not in bits, (seed, word, token)
                else:
                    assert token in bits, (seed, word, token)


def long_texts(seed: int) -> int:
    """A program on single bytes along one long text: every byte, some masks, clones and steps back.

    Returns how many bytes were read before the listed stacks became too many or none was left.
    """
    rng = random.Random(seed)
    symbols = rng.randint(1, 2)
    roll = random_template if seed % 4 == 0 else effects
    terminals = [roll(rng, symbols) for _ in range(3)]
    completion = roll(rng, symbols)
    tokens = [bytes(t) for n in (1, 2, 3) for t in itertools.product(b"abc", repeat=n)]
    vocab = Vocab.from_id_to_bytes(dict(enumerate(tokens)))
    state = program(terminals, completion, symbols).compile(vocab, [b"a", b"b", b"c"]).start(4)

    def after(stacks: set[tuple[int, ...]], text: bytes) -> set[tuple[int, ...]]:
        for byte in text:
            stacks = {new for stack in stacks for new in walk(terminals[byte - ord("a")], stack)}
        return stacks

    history: list[set[tuple[int, ...]]] = [{(0,)}]
    undoable = 0
    for at in range(150):
        stacks = history[-1]
        assert (seed, at, state.is_accepting()) == (seed, at, any(walk(completion, stack) for stack in stacks))
        if at % 10 == 9:
            mask = state.mask()
            some = rng.sample(range(len(tokens)), 6)
            assert (seed, at, {t: bool(after(stacks, tokens[t])) for t in some}) == (
                seed,
                at,
                {t: mask[t] for t in some},
            )
            state = state.clone()
        if undoable >= 3 and rng.random() < 0.1:
            state.rollback(3)
            del history[-3:]
            undoable -= 3
            continue
        follow = {byte: after(stacks, bytes([byte])) for byte in b"abc"}
        alive = [byte for byte in b"abc" if follow[byte]]
        if not alive or max(map(len, follow.values())) > 60:
            return at
        byte = rng.choice(alive)
        state.commit_bytes(bytes([byte]))
        history.append(follow[byte])
        undoable = min(undoable + 1, 4)
    return 150


def test_long_texts() -> None:
    lengths = [long_texts(seed) for seed in range(50)]
    assert sum(lengths) > 1000 and sum(n == 150 for n in lengths) > 5


# -- meaning --------------------------------------------------------------------------------------------------


def brackets(**arguments: Any) -> Constraint:
    made = program([pushes(1), pops(1)], pops(0))
    return made.compile(BYTES, [b"(", b")"], end_tokens=[END], **arguments)


def test_brackets() -> None:
    constraint = brackets()
    state = constraint.start()
    assert texts(constraint, state) == {b"(", b"((", b"()", b""}
    assert state.is_accepting()
    state.commit_bytes(b"(")
    assert texts(constraint, state) == {b"(", b"((", b"()", b")"}
    state.commit_bytes(b"(")
    assert texts(constraint, state) == {b"(", b"((", b"()", b")", b"))"}
    assert [reads(constraint, t) for t in (b"", b"()", b"(()", b"())")] == ["yes", "yes", "live", "no"]


def test_empty_stack_is_legal_and_has_no_top() -> None:
    """a pops whatever is there, b is the identity, c pushes, d reads symbol 1."""
    read = template(graph((False, [])), read=graph((False, [(1, 1)]), (True, [])), pop_to_read=[0])
    anything = IDENTITY
    constraint = program([pops("Default"), IDENTITY, pushes(1), read], anything).compile(
        BYTES, [b"a", b"b", b"c", b"d"]
    )
    for text, outcome in {b"a": "yes", b"ab": "yes", b"abbb": "yes", b"aa": "no", b"aca": "yes", b"acaa": "no"}.items():
        assert (text, reads(constraint, text)) == (text, outcome)
    for text, outcome in {
        b"d": "no",
        b"ad": "no",
        b"cd": "yes",
        b"acdd": "yes",
        b"acda": "yes",
        b"acdaa": "no",
    }.items():
        assert (text, reads(constraint, text)) == (text, outcome)
    state = constraint.start()
    state.commit_bytes(b"a")
    assert texts(constraint, state) == {b"b", b"c"}


def test_explicit_edge_shadows_default_even_into_a_dead_end() -> None:
    pop = template(graph((False, [(1, 1), ("Default", 2)]), (False, []), (True, [])))
    constraint = program([pushes(1), pushes(2), pop], IDENTITY).compile(BYTES, [b"a", b"b", b"c"])
    assert [reads(constraint, t) for t in (b"c", b"bc", b"ac", b"abc", b"bac", b"abcc")] == [
        "yes", "yes", "no", "yes", "no", "no"
    ]  # fmt: skip


def test_no_pruning_of_what_cannot_complete() -> None:
    never = template(graph((False, [])))
    constraint = program([pushes(1)], never).compile(BYTES, [b"x"], end_tokens=[END])
    state = constraint.start()
    state.commit_bytes(b"xxx")
    assert texts(constraint, state) == {b"x"}
    dead_end = program([template(graph((False, [("Default", 1)]), (True, [])))], never).compile(BYTES, [b"x"])
    state = dead_end.start()
    state.commit_bytes(b"x")  # the stack is empty now, so nothing can follow: live all the same
    assert (False, set()) == (state.is_rejected(), texts(dead_end, state))
    with pytest.raises(glrmask.StateRejectedError):
        state.commit_bytes(b"x")
    assert state.is_rejected()


def test_longest_match_of_the_same_terminal() -> None:
    constraint = program([pushes(1), pops(1), IDENTITY], pops(0)).compile(BYTES, ["a+", b"ab", b"b"])
    assert reads(constraint, b"aab") == "live"  # "aa" "b": one symbol is on the stack
    assert reads(constraint, b"ab") == "live"  # "a" "b", or "ab" which finds no 1 to pop
    assert reads(constraint, b"aabab") == "yes"  # "aa" "b" "ab" pops it
    assert reads(constraint, b"aaab") == "live"


def test_ignore_terminal() -> None:
    made = program([pushes(1), pops(1), IDENTITY], pops(0))
    constraint = made.compile(BYTES, [b"(", b")", " +"], ignore_terminal=2)
    assert [reads(constraint, t) for t in (b" ", b" ( ) ", b"  (  (", b" ) ")] == ["yes", "yes", "live", "no"]
    spaced = program([IDENTITY, pushes(1)], pops(1)).compile(BYTES, [" +", b" x"], ignore_terminal=0)
    assert reads(spaced, b"  x") == "yes"  # the run of spaces may end before " x"
    strict = program([IDENTITY, pushes(1)], pops(1)).compile(BYTES, [" +", b" x"])
    assert reads(strict, b"  x") == "no"
    for bad, name in ((0, "identity"), (7, "terminals")):
        with pytest.raises(glrmask.GrammarError, match=name):
            made.compile(BYTES, [b"(", b")", " +"], ignore_terminal=bad)


def test_ambiguous_programs_keep_all_stacks() -> None:
    """x pushes 1 or 2; a wants 1 on top, b wants 2."""
    both = template(graph((False, [])), push=graph((False, [(1, 1), (2, 1)]), (True, [])), pop_to_push=[0])
    constraint = program([both, pops(1), pops(2)], pops(0)).compile(BYTES, [b"x", b"a", b"b"])
    state = constraint.start()
    state.commit_bytes(b"xx")
    assert texts(constraint, state) == {b"x", b"a", b"b"}
    assert [reads(constraint, t) for t in (b"xxab", b"xxba", b"xxa", b"xxaba")] == ["yes", "yes", "live", "no"]


def test_terminals_that_never_emit_are_never_started() -> None:
    constraint = program([template(graph((False, []))), IDENTITY], IDENTITY).compile(BYTES, ["ab*", "ac"])
    state = constraint.start()
    assert texts(constraint, state) == {b"a"}
    state.commit_bytes(b"a")
    assert texts(constraint, state) == {b"c"}


def test_no_terminals() -> None:
    constraint = program([], pops(0)).compile(BYTES, [], end_tokens=[END])
    state = constraint.start()
    assert allowed(state) == {END}
    state.commit_token(END)
    assert state.is_terminated()


def test_unreachable_cycle_free_parts_and_wide_symbols() -> None:
    count = 1 << 20
    made = program([pushes(count - 1), pops(count - 1), pushes(0)], pops(0), count)
    for mode in MODES:
        constraint = made.compile(BYTES, [b"(", b")", b"o"], optimization=mode)
        assert [reads(constraint, t) for t in (b"((()))", b"(o)", b"o")] == ["yes", "no", "yes"]


# -- sizes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_exponentially_many_stacks(mode: Optimization) -> None:
    n = 30
    push = graph(*((False, [(1, q + 1), (2, q + 1)]) for q in range(n)), (True, []))
    every = template(graph((False, [])), push=push, pop_to_push=[0])
    constraint = program([every, pops(1), pops(2)], pops(0)).compile(BYTES, [b"x", b"a", b"b"], optimization=mode)
    state = constraint.start()
    state.commit_bytes(b"xx")  # 2^60 stacks
    assert texts(constraint, state) == {b"x", b"a", b"b"}
    rng = random.Random(1)
    state.commit_bytes(bytes(rng.choices(b"ab", k=2 * n - 1)))
    assert not state.is_accepting()
    state.commit_bytes(b"a")
    assert (True, {b"x"}) == (state.is_accepting(), texts(constraint, state))


def test_deep_pops_over_exponentially_many_stacks() -> None:
    n = 30
    push = graph(*((False, [(1, q + 1), (2, q + 1)]) for q in range(n)), (True, []))
    every = template(graph((False, [])), push=push, pop_to_push=[0])
    all_at_once = pops(*(["Default"] * (n - 1)), 2)
    odd = pops(*([1] * (n - 1)), 0)
    constraint = program([every, all_at_once, odd], pops(0)).compile(BYTES, [b"x", b"a", b"b"])
    assert [reads(constraint, t) for t in (b"xa", b"xxaa", b"xaa", b"xb", b"xxa")] == ["yes", "yes", "no", "no", "live"]
    state = constraint.start()
    state.commit_bytes(b"x")
    assert texts(constraint, state) == {b"x", b"a"}


def test_deep_stacks() -> None:
    depth = 100_000
    constraint = brackets()
    state = constraint.start(2)
    state.commit_bytes(b"(" * depth)
    assert texts(constraint, state) == {b"(", b"((", b"()", b")", b"))"}
    copy = state.clone()
    state.commit_bytes(b")" * depth)
    assert state.is_accepting()
    state.rollback(1)
    copy.commit_bytes(b")" * (depth - 1))
    assert texts(constraint, copy) == {b"(", b"((", b"()", b")"}
    with pytest.raises(glrmask.StateRejectedError):
        state.commit_bytes(b")" * (depth + 1))
    state.rollback(1)
    assert b"))" in texts(constraint, state)


def test_many_states_in_one_template() -> None:
    """A chain that reads the top 20,000 times, and one that pushes as many symbols."""
    n = 20_000
    reading = template(
        graph((False, [])), read=graph(*((False, [(0, q + 1)]) for q in range(n)), (True, [])), pop_to_read=[0]
    )
    constraint = program([reading, pushes(*([1] * n)), pops(*([1] * n))], pops(0)).compile(BYTES, [b"r", b"p", b"q"])
    assert [reads(constraint, t) for t in (b"r", b"rpq", b"pr", b"ppqq", b"pqq")] == ["yes", "yes", "no", "yes", "no"]
    state = constraint.start()
    state.commit_bytes(b"pp")
    assert texts(constraint, state) == {b"p", b"q"}


def test_guessing_how_much_to_pop_and_push_stays_linear() -> None:
    """x pops one symbol, or none, and pushes one of two, or none: after n of them all stacks up to n symbols."""
    from glrmask_engine_native._native import ffi, lib

    guess = template(
        graph((True, [("Default", 1)]), (True, [])), push=graph((False, [(1, 1), (2, 1)]), (True, [])), pop_to_push=[0]
    )
    vocab = Vocab.from_id_to_bytes({0: b"x", 1: b"xx", 2: b"a", 3: b"b", 4: b"ab" * 8})
    state = program([guess, pops(1), pops(2)], pops(0)).compile(vocab, [b"x", b"a", b"b"]).start(0)
    report, error, seen = ffi.new("GmStateReport *"), ffi.new("GmError *"), []
    for _ in range(4):
        for _ in range(250):
            state.commit_bytes(b"x")
        lib.gm_state_report(state._handle, report, error)  # type: ignore[attr-defined]
        seen.append(report.work)
    assert seen[3] - seen[2] < 1.5 * (seen[1] - seen[0])
    assert allowed(state) == {0, 1, 2, 3, 4}


# -- states ---------------------------------------------------------------------------------------------------


def test_end_tokens() -> None:
    state = brackets().start()
    state.commit_bytes(b"(")
    assert END not in allowed(state)
    with pytest.raises(glrmask.StateRejectedError):
        state.commit_token(END)
    assert state.is_rejected() and not allowed(state)
    state.rollback(1)
    state.commit_bytes(b")")
    state.commit_token(END)
    assert state.is_terminated() and state.is_accepting() and not allowed(state)
    state.rollback(2)
    assert not state.is_terminated() and not state.is_accepting()


def test_clones_and_rollback() -> None:
    constraint = brackets()
    rng = random.Random(3)
    state, before = constraint.start(5), []
    for _ in range(300):
        before.append(allowed(state))
        state.commit_token(rng.choice(sorted(allowed(state) - {END})))
        if rng.random() < 0.2:
            n = min(rng.randint(1, 3), len(before))
            copy = state.clone()
            after = allowed(state)
            copy.rollback(n)
            assert (before[-n], after) == (allowed(copy), allowed(state))
            if rng.random() < 0.5:
                state, before = copy, before[:-n]
                before = before[-2:] if len(before) > 2 else before
    assert not state.is_rejected()


def test_threads_share_a_constraint() -> None:
    """Whoever comes first fills the tables; everybody sees the same masks."""
    constraint = brackets()

    def write(number: int) -> list[set[int]]:
        rng, state, seen = random.Random(number % 3), constraint.start(3), []
        for _ in range(100):
            seen.append(allowed(state))
            state.commit_token(rng.choice(sorted(seen[-1] - {END})))
        return seen

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(write, range(12)))
    assert all(found[i] == found[i % 3] for i in range(12))


def test_explanations() -> None:
    state = brackets().start()
    state.commit_bytes(b"((")
    assert state.shortest_completion() == b"))"
    assert "0x78" in str(state.explain(b"x"))


def test_saved_and_loaded() -> None:
    made = program([pushes(1), pops(1), IDENTITY], pops(0))
    for mode in MODES:
        constraint = made.compile(BYTES, [b"(", b")", " +"], ignore_terminal=2, end_tokens=[END], optimization=mode)
        loaded = Constraint.load(constraint.save())
        assert made == loaded.program
        for text in (b"", b"( ", b"(())", b" ( ("):
            one, two = constraint.start(), loaded.start()
            one.commit_bytes(text)
            two.commit_bytes(text)
            assert (allowed(one), one.is_accepting()) == (allowed(two), two.is_accepting())


# -- schedules and limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2000, 2020))
def test_closed_tables_stay_as_they_are(seed: int) -> None:
    made, arguments, vocab, rng = random_world(seed)
    constraint = made.compile(vocab, optimization=Optimization.FAST_RUNTIME, **arguments)
    compiled = constraint.compiled
    before = {
        k: v for k, v in compiled.report().items() if k in ("steps", "summaries", "views", "lexer_states", "walked")
    }
    for word in random_words(rng):
        if reads(constraint, word) != "no":
            state = constraint.start()
            state.commit_bytes(word)
            state.mask()
    after = compiled.report()
    assert before == {k: after[k] for k in before}


@pytest.mark.parametrize(
    ("name", "value"),
    [("static_pairs", 5), ("static_work", 1), ("static_bytes", 100), ("memory_bytes", 5_000), ("lexer_states", 3)],
)
def test_limits_are_named_and_no_mode_is_switched(name: str, value: int) -> None:
    with pytest.raises(glrmask.LimitExceededError) as caught:
        made = program([pushes(1), pops(1), IDENTITY], pops(0))
        made.compile(
            BYTES, [b"(", b")", "[a-z]+x{3}"], optimization=Optimization.FAST_RUNTIME, limits=Limits(**{name: value})
        )
    assert name == caught.value.limit


def test_memory_limit_of_a_state_leaves_it_as_it_was() -> None:
    constraint = brackets(limits=Limits(state_bytes=400_000))
    state = constraint.start(1)
    state.commit_bytes(b"(((")
    with pytest.raises(glrmask.LimitExceededError):
        state.commit_bytes(b"(" * 1_000_000)
    assert texts(constraint, state) == {b"(", b"((", b"()", b")", b"))"}
    state.commit_bytes(b")))")
    assert state.is_accepting()


# -- what the C side checks itself ----------------------------------------------------------------------------


def test_damaged_code_is_refused_or_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code that Python hands over, with words changed: no crash, whatever comes out."""
    from glrmask_engine_native import engine as native
    from glrmask_engine_native.program import encode

    rng = random.Random(7)
    made = program([pushes(1, 2), pops(1, "Default"), IDENTITY], pops(0))
    patterns = made.compile(BYTES, [b"(", b")", b"x"]).module
    options = brackets().options
    good = encode(made.definition)
    outcomes = set()

    class Changed:
        def __init__(self, code: Any) -> None:
            self.definition = code

    monkeypatch.setattr(native, "encode", lambda code: code)
    for _ in range(600):
        code = good[:]
        if rng.random() < 0.1:
            del code[rng.randrange(len(code)) :]
        for _ in range(rng.randint(1, 2) if code else 0):
            code[rng.randrange(len(code))] = rng.choice([-1, 0, 1, 2, 3, 2**20, 2**31 - 1, -(2**31)])
        changed: Any = Changed(code)
        try:
            compiled = native.NativeEngine().compile_program(changed, patterns, None, BYTES, options)
        except (glrmask.GrammarError, glrmask.LimitExceededError):
            outcomes.add("refused")
            continue
        outcomes.add("works")
        state = compiled.start(1)
        words = np.zeros(4, np.uint32)
        for byte in b"(x)(":
            state._fill(words)
            state._commit_bytes(bytes([byte]))
    assert outcomes == {"refused", "works"}
