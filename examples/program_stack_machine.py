"""Programs of a typed stack machine, such that only well-typed ones can be written.

    3 dup * "abc" len =        numbers and strings are pushed; words take their arguments from the stack

The stack of the parser program holds the *types* on the stack of the machine, and each word is a template that
says what it does to them: READ looks at the top, POP takes it off, PUSH puts a type on. Every text the masks let
through is run by an independent interpreter, which would notice a wrong type.

python examples/program_stack_machine.py [TEXTS]
"""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import glrmask

BOTTOM, NUM, STR = range(3)
TYPES = (NUM, STR)

State = tuple[bool, list[tuple[int, int]]]
Effect = tuple[tuple[int, ...], tuple[int, ...]]

WORDS: dict[str, list[Effect]] = {  # what a word takes (top last) and leaves, per choice of types
    "+": [((NUM, NUM), (NUM,))],
    "*": [((NUM, NUM), (NUM,))],
    "cat": [((STR, STR), (STR,))],
    "len": [((STR,), (NUM,))],
    "=": [((t, t), (NUM,)) for t in TYPES],
    "swap": [((a, b), (b, a)) for a in TYPES for b in TYPES],
    "drop": [((t,), ()) for t in TYPES],
}


def graph(states: list[State]) -> dict[str, Any]:
    return {
        "start": 0,
        "states": [
            {
                "accepting": accepting,
                "transitions": [{"label": {"Symbol": symbol}, "target": target} for symbol, target in edges],
            }
            for accepting, edges in states
        ],
    }


def template(
    pop: list[State], push: list[State] | None = None, links: list[int | None] | None = None, **reads: Any
) -> dict[str, Any]:
    return {
        "pop": graph(pop),
        "read": graph(reads.get("read", [(False, [])])),
        "push": graph(push or [(False, [])]),
        "pop_to_read": reads.get("pop_to_read", []),
        "pop_to_push": links or [],
        "read_to_push": reads.get("read_to_push", []),
    }


def word(effects: list[Effect]) -> dict[str, Any]:
    """Pop the arguments along a tree, top first; push the results along a path from each of its leaves."""
    pop: list[State] = [(False, [])]
    links: list[int | None] = [None]
    push: list[State] = []
    for takes, leaves in effects:
        at = 0
        for symbol in reversed(takes):
            known = dict(pop[at][1])
            if symbol not in known:
                pop[at][1].append((symbol, len(pop)))
                known[symbol] = len(pop)
                pop.append((False, []))
                links.append(None)
            at = known[symbol]
        links[at] = len(push)
        push += [(False, [(symbol, len(push) + i + 1)]) for i, symbol in enumerate(leaves)]
        push.append((True, []))
    return template(pop, push, links)


def duplicate() -> dict[str, Any]:
    """READ the top without taking it off, then push the same type again."""
    read: list[State] = [(False, [(NUM, 1), (STR, 2)]), (False, []), (False, [])]
    push: list[State] = [(False, [(NUM, 2)]), (False, [(STR, 2)]), (True, [])]
    return template([(False, [])], push, pop_to_read=[0], read=read, read_to_push=[None, 0, 1])


IDENTITY = template([(True, [])])
COMPLETE = template([(False, [(NUM, 1)]), (False, [(BOTTOM, 2)]), (True, [])])  # one number and nothing else


def stack_machine() -> tuple[glrmask.ParserProgram, list[bytes | str]]:
    """The program and its patterns; the last one is ignored."""
    terminals = [word([((), (NUM,))]), word([((), (STR,))]), duplicate(), *map(word, WORDS.values()), IDENTITY]
    patterns: list[bytes | str] = ["[0-9]{1,3}", '"[a-z ]*"', b"dup", *(name.encode() for name in WORDS), "[ \\n]+"]
    definition = {"stack_symbol_count": 3, "terminals": terminals, "completion": COMPLETE}
    return glrmask.ParserProgram(definition), patterns


ITEM = re.compile(r'\s+|[0-9]{1,3}|"[a-z ]*"|dup|' + "|".join(map(re.escape, WORDS)))


def run(text: str) -> int | None:
    """The machine itself: the number a text computes, or None when it is not a well-typed program."""
    stack: list[int | str] = []
    at = 0
    try:
        while at < len(text):
            match = ITEM.match(text, at)
            if match is None:
                return None
            at = match.end()
            if not match.group().isspace():
                execute(match.group(), stack)
    except (IndexError, TypeError):
        return None
    return stack[0] if len(stack) == 1 and isinstance(stack[0], int) else None


def execute(item: str, stack: list[int | str]) -> None:
    """Raises TypeError for a wrong type and IndexError for a missing argument."""
    if item[0].isdigit():
        stack.append(int(item))
    elif item[0] == '"':
        stack.append(item[1:-1])
    elif item == "dup":
        stack.append(stack[-1])
    elif item == "drop":
        stack.pop()
    elif item == "len":
        stack.append(len(text_of(stack.pop())))
    else:
        b, a = stack.pop(), stack.pop()
        if item == "swap":
            stack += [b, a]
        elif item == "cat":
            stack.append(text_of(a) + text_of(b))
        elif item == "=":
            stack.append(int(same(a, b)))
        else:
            stack.append(number(a) + number(b) if item == "+" else number(a) * number(b) % 1000)


def number(value: int | str) -> int:
    if not isinstance(value, int):
        raise TypeError
    return value


def text_of(value: int | str) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def same(a: int | str, b: int | str) -> bool:
    if type(a) is not type(b):
        raise TypeError
    return a == b


def accepts(constraint: glrmask.Constraint, text: str) -> bool:
    state = constraint.start()
    try:
        state.commit_bytes(text.encode())
    except glrmask.StateRejectedError:
        return False
    return state.is_accepting()


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    pieces = [
        *'0123456789abcdelnoprstuw+*=" \n',
        "dup",
        "cat",
        "len",
        "swap",
        "drop",
        " +",
        " *",
        ' "',
        '" ',
        "du",
        "ap",
    ]
    pieces += ["rop", " dup +", ' "a" ', "12 "]
    vocab = glrmask.Vocab.from_id_to_bytes(dict(enumerate([*(p.encode() for p in pieces), b"<end>"])))
    end = len(vocab) - 1
    program, patterns = stack_machine()
    constraint = program.compile(vocab, patterns, ignore_terminal=len(patterns) - 1, end_tokens=[end])

    rng = random.Random(0)
    finished, longest = 0, ""
    for _ in range(rounds):
        state, text = constraint.start(), ""
        for _ in range(60):
            allowed = [int(token) for token in state.mask().nonzero()[0]]
            token = end if end in allowed and rng.random() < 0.3 else rng.choice(allowed)
            state.commit_token(token)
            if token == end:
                finished += 1
                if run(text) is None:
                    print(f"not a well-typed program: {text!r}", file=sys.stderr)
                    return 1
                longest = max(longest, text, key=len)
                break
            text += pieces[token]
        items = re.findall(r'"[a-z ]*"|\w+|\W', text) or ["1"]
        for other in (text, "".join(rng.sample(items, len(items))), "".join(items[: rng.randrange(len(items)) + 1])):
            if accepts(constraint, other) != (run(other) is not None):
                print(f"the program and the machine disagree: {other!r}", file=sys.stderr)
                return 1
    print(f"{finished} of {rounds} texts ended in time, all well typed; {longest!r} gives {run(longest)}")
    return 0 if finished else 1


if __name__ == "__main__":
    sys.exit(main())
