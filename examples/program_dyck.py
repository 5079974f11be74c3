"""Balanced brackets of three kinds as a parser program, checked against a recogniser of ten lines.

python examples/program_dyck.py [TEXTS]
"""

from __future__ import annotations

import random
import sys
from typing import Any

import glrmask

KINDS = ["()", "[]", "{}"]
START, FIRST = 0, 1  # stack symbols: the start symbol, then one per kind
IDLE = {"start": 0, "states": [{"accepting": False, "transitions": []}]}


def edge(label: Any, target: int) -> dict[str, Any]:
    return {"label": label if label == "Default" else {"Symbol": label}, "target": target}


def template(**parts: Any) -> dict[str, Any]:
    nothing: dict[str, Any] = {name: [] for name in ("pop_to_read", "pop_to_push", "read_to_push")}
    return {"pop": IDLE, "read": IDLE, "push": IDLE, **nothing, **parts}


def move(label: Any) -> dict[str, Any]:
    """One edge into an accepting state."""
    return {
        "start": 0,
        "states": [{"accepting": False, "transitions": [edge(label, 1)]}, {"accepting": True, "transitions": []}],
    }


def opens(kind: int) -> dict[str, Any]:
    """Push the bracket's symbol, whatever the stack is."""
    return template(push=move(FIRST + kind), pop_to_push=[0])


def closes(kind: int) -> dict[str, Any]:
    """Pop the bracket's symbol; another top, or none, kills the reading."""
    return template(pop=move(FIRST + kind))


def plain() -> dict[str, Any]:
    """Leave the stack as it is."""
    return template(pop={"start": 0, "states": [{"accepting": True, "transitions": []}]})


def dyck() -> glrmask.ParserProgram:
    kinds = range(len(KINDS))
    return glrmask.ParserProgram(
        {
            "stack_symbol_count": FIRST + len(KINDS),
            "terminals": [*map(opens, kinds), *map(closes, kinds), plain()],
            "completion": template(pop=move(START)),
        }
    )


def patterns() -> list[bytes | str]:
    return [*(kind[0].encode() for kind in KINDS), *(kind[1].encode() for kind in KINDS), "[a-z]+"]


def is_balanced(text: str) -> bool:
    """The same language without the library."""
    partner = {kind[1]: kind[0] for kind in KINDS}
    stack: list[str] = []
    for letter in text:
        if letter in partner.values():
            stack.append(letter)
        elif letter in partner:
            if not stack or stack.pop() != partner[letter]:
                return False
        elif not ("a" <= letter <= "z"):
            return False
    return not stack


def accepts(constraint: glrmask.Constraint, text: str) -> bool:
    state = constraint.start()
    try:
        state.commit_bytes(text.encode())
    except glrmask.StateRejectedError:
        return False
    return state.is_accepting()


def main() -> int:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    pieces = ["a", "b", "ab", *"()[]{}", "(a", "))", ")]", "[{", "}]", "()", "({[", "b)", "}"]
    vocab = glrmask.Vocab.from_id_to_bytes(dict(enumerate([*(p.encode() for p in dict.fromkeys(pieces)), b"<end>"])))
    end = len(vocab) - 1
    constraint = dyck().compile(vocab, patterns(), end_tokens=[end])

    rng = random.Random(0)
    longest = ""
    for _ in range(rounds):
        state, text = constraint.start(), b""
        while not state.is_terminated():
            allowed = [int(token) for token in state.mask().nonzero()[0]]
            closing = [token for token in allowed if token == end or vocab.bytes_of(token) in (b")", b"]", b"}")]
            token = rng.choice(closing if closing and len(text) > 40 else allowed)
            state.commit_token(token)
            text += vocab.bytes_of(token) if token != end else b""
        if not is_balanced(text.decode()):
            print(f"not balanced: {text.decode()}", file=sys.stderr)
            return 1
        longest = max(longest, text.decode(), key=len)

        changed = list(text.decode()) or ["a"]
        changed[rng.randrange(len(changed))] = rng.choice("ab()[]{}!")
        for other in ("".join(changed), "".join(rng.sample(changed, len(changed)))):
            if accepts(constraint, other) != is_balanced(other):
                print(f"the program and the recogniser disagree: {other}", file=sys.stderr)
                return 1
    print(f"{rounds} texts, all balanced; the longest: {longest[:100]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
