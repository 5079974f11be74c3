"""Corrupted artifacts: each is refused, or gives a constraint that works.

    python scripts/corrupt.py [--cases 100000] [--seed 0] [--jobs 2] [--engine NAME]

Half of the work is *raw*: so many corruptions of saved constraints (bits and bytes flipped, truncated, pieces cut
out, doubled, moved and exchanged between artifacts, sizes that lie), each of which must raise ``ValueError``. The other
half, as many, is *sealed*: the same done to a whole artifact, its header or one of its sections, with lengths and
checksum made right again, so that validation itself is tried: ``ValueError``, or a constraint that starts, gives masks
and takes tokens. A case that takes over 2 seconds or 64 MB, raises anything else, hangs or kills its process fails, and
is printed with its number: ``--only RAW_OR_SEALED:NUMBER`` runs it alone. Prints counts per kind of corruption; the
exit code is 1 when any case failed.
"""

from __future__ import annotations

import argparse
import collections
import faulthandler
import hashlib
import json
import random
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgpack

import glrmask

try:
    import resource
except ImportError:  # no such figures on Windows
    resource = None  # type: ignore[assignment]

FIXED = struct.Struct("<8sIIQ")
START = FIXED.size + 32
SECONDS, BYTES = 2.0, 64 << 20
HANGS = 60.0  # seconds after which a case is given up, with its process
CHUNK = 2500  # cases per process
LYING = (0, 1, 2, 3, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**24, 83886081, 33554437)


# -- what is corrupted ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """An artifact and how it is loaded."""

    name: str
    data: bytes
    load: Callable[[bytes], Any]
    closed: bool = False
    """Holds tables of FAST_RUNTIME, which are not computed again: changed ones may allow a token that is refused."""


def samples(engine: str | None) -> list[Sample]:
    """Artifacts that use every part of the format and of the IR."""
    vocab = glrmask.Vocab.from_id_to_bytes(
        {i: bytes([97 + i]) for i in range(26)}
        | {26 + i: bytes([c]) for i, c in enumerate(b' "{}[],:0123456789-.\\')}
        | {50: b"ab", 51: b'{"', 52: b"if", 53: b"", 54: b"", 55: b"caf\xc3\xa9", 56: b'":'}
    )
    host = glrmask.Grammar.from_glrm(
        """
        glrm 1;
        start message;
        ignore SPACE;
        extern grammar BODY;
        extern token CALL;
        t SPACE = / +/;
        t WORD = /[a-z]{2,9}/ - ("if" | "in");
        t CODE = /(ab|c[d-f]){3,40}/ & /.{0,30}/;
        nt message = "if" WORD (CALL | CODE)? BODY ("," message)*;
        """
    )
    schema = glrmask.Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 12, "pattern": "^[a-z]+$"},
                "size": {"type": "integer", "minimum": 3, "maximum": 4711},
                "kind": {"enum": ["red", "green", "blue"]},
                "tags": {"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 1, "maxItems": 5},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        property_order="any",
    )
    options: dict[str, Any] = {"end_tokens": [54], "engine": engine, "background": False}
    child = schema.compile(vocab, **options)
    token = vocab.token(53)
    closed = host.bind("BODY", schema).bind("CALL", token).compile(vocab, **options)
    identity: dict[str, Any] = {
        "pop": {"start": 0, "states": [{"accepting": True, "transitions": []}]},
        "read": {"start": 0, "states": [{"accepting": False, "transitions": []}]},
        "push": {"start": 0, "states": [{"accepting": False, "transitions": []}]},
        "pop_to_read": [],
        "pop_to_push": [],
        "read_to_push": [],
    }
    definition = {"stack_symbol_count": 2, "terminals": [identity, identity], "completion": identity}
    program = glrmask.ParserProgram(definition).compile(vocab, [b"ab", "[0-9]+"], engine=engine)
    unlinked = host.compile_unlinked(vocab).bind("BODY", child)
    constraint = glrmask.Constraint.load
    more = glrmask.Vocab.from_id_to_bytes(  # enough for dense sets
        {i: bytes([i]) for i in range(256)}
        | {256 + i: f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{i % 7}"[: 2 + i % 2].encode() for i in range(900)}
        | {1200 + i: text for i, text in enumerate([b'":', b'{"', b'", "', b'"name', b"2024-", b"-12", b"red", b""])}
    )
    options |= {"end_tokens": [1207], "optimization": glrmask.Optimization.FAST_RUNTIME}
    tables = schema.compile(more, **options)
    words = glrmask.Grammar.from_glrm(
        """
        glrm 1;
        start s;
        ignore SPACE;
        t SPACE = / +/;
        t NAME = /[a-z][a-z0-9]{0,40}/ - ("if" | "in");
        t CODE = /(ab|c[d-f]){3,40}/ & /.{0,30}/;
        t TEXT = /"[^"]*"/;
        nt s = s "+" s | "(" s ")" | NAME | CODE | TEXT | "if" s ("else" s)?;
        """
    ).compile(more, **options)
    return [
        Sample("schema", child.save(), constraint),
        Sample("external", closed.save_with_external_vocab(), lambda data: constraint(data, vocab)),
        Sample("host", closed.save(), constraint),
        Sample("program", program.save(), constraint),
        Sample("unlinked", unlinked.save(), glrmask.UnlinkedConstraint.load),
        *(
            Sample(name, made.save_with_external_vocab(), lambda data: constraint(data, more), True)
            for name, made in (("tables", tables), ("words", words))
        ),
    ]


# -- corruptions ----------------------------------------------------------------------------------------------


def flip(data: bytearray, rng: random.Random, _other: bytes) -> None:
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite(data: bytearray, rng: random.Random, _other: bytes) -> None:
    for _ in range(rng.choice((1, 1, 2, 5))):
        data[rng.randrange(len(data))] = rng.choice((0, 1, 127, 128, 254, 255, rng.randrange(256)))


def truncate(data: bytearray, rng: random.Random, _other: bytes) -> None:
    del data[rng.choice((rng.randrange(len(data)), max(0, len(data) - rng.randint(1, 8)))) :]


def splice(data: bytearray, rng: random.Random, other: bytes) -> None:
    size = rng.choice((1, 2, 4, 16, rng.randint(1, 200)))
    at = rng.randrange(len(data))
    source = rng.choice((bytes(data), other))
    start = rng.randrange(max(1, len(source) - size))
    piece = source[start : start + size]
    what = rng.randrange(4)
    if what == 0:
        del data[at : at + size]
    elif what == 1:
        data[at:at] = piece
    elif what == 2:
        data[at : at + size] = piece
    else:
        data += piece


def lie(data: bytearray, rng: random.Random, _other: bytes) -> None:
    """A number of 1, 2, 4 or 8 bytes, either end first, becomes another size."""
    width = rng.choice((1, 2, 4, 4, 4, 8))
    if len(data) < width:
        data += b"\xff"
        return
    at = rng.randrange(len(data) - width + 1)
    if rng.random() < 0.5:
        at = at // 4 * 4 % (len(data) - width + 1)
    order = rng.choice(("little", "little", "big"))
    old = int.from_bytes(data[at : at + width], order)
    new = rng.choice((rng.choice(LYING), old + 1, old - 1, old * 2, -old, old << 16)) % (1 << 8 * width)
    data[at : at + width] = new.to_bytes(width, order)


KINDS: tuple[Callable[[bytearray, random.Random, bytes], None], ...] = (flip, overwrite, truncate, splice, lie)


def sealed(head: bytes, body: bytes, version: int) -> bytes:
    """An envelope whose lengths and checksum are right."""
    fixed = FIXED.pack(b"GLRMASK\0", version, len(head), len(body))
    return fixed + hashlib.blake2b(fixed + head + body, digest_size=32).digest() + head + body


def corrupt_sealed(
    data: bytes, kind: Callable[[bytearray, random.Random, bytes], None], rng: random.Random, other: bytes
) -> bytes:
    """Corrupt header, body, one section, the tables, or one field of the grammar; the rest stays as it was."""
    _, version, head_len, _ = FIXED.unpack_from(data)
    head, body = data[START : START + head_len], data[START + head_len :]
    where = rng.choice((0, 1, 2, 3, 3, 3))
    if where < 2:
        parts = [bytearray(head), bytearray(body)]
        kind(parts[where], rng, other)
        return sealed(bytes(parts[0]), bytes(parts[1]), version)
    header = msgpack.unpackb(head)
    sections, at = [], 0
    for name, size in header["sections"]:
        sections.append((name, body[at : at + size]))
        at += size
    chosen = 0 if where == 3 else rng.randrange(len(sections))
    if where == 3 and sections[1][1] and rng.random() < 0.7:
        chosen = 1
    name, section = sections[chosen]
    if chosen == 0 and where == 3:
        fields = msgpack.unpackb(section)
        at = rng.choice([i for i, field in enumerate(fields) if isinstance(field, bytes) and field])
        field = bytearray(fields[at])
        kind(field, rng, other)
        if at < 3 and rng.random() < 0.7:  # whole rows of numbers, so that the field itself is well-formed
            del field[len(field) // 16 * 16 :]
        fields[at] = bytes(field)
        section = msgpack.packb(fields)
    elif section:
        changed = bytearray(section)
        kind(changed, rng, other)
        section = bytes(changed)
    sections[chosen] = (name, section)
    header["sections"] = [[n, len(s)] for n, s in sections]
    return sealed(msgpack.packb(header), b"".join(s for _, s in sections), version)


def case(pool: list[Sample], mode: str, seed: int, number: int) -> tuple[Sample, str, bytes]:
    """Corruption ``number``: where it comes from, its kind, and the data, which differ from the original."""
    rng = random.Random(f"{mode} {seed} {number}")
    while True:
        sample, other = rng.choice(pool), rng.choice(pool).data
        kind = rng.choice(KINDS)
        if mode == "raw":
            changed = bytearray(sample.data)
            kind(changed, rng, other)
            data = bytes(changed)
        else:
            data = corrupt_sealed(sample.data, kind, rng, other)
        if data != sample.data and all(data != s.data for s in pool):
            return sample, kind.__name__, data


# -- running --------------------------------------------------------------------------------------------------


def use(loaded: Any, closed: bool) -> None:
    """Start, look at masks and commit; ``closed``: a token of the mask may be refused."""
    if not isinstance(loaded, glrmask.Constraint):
        loaded.unbound_slots()
        try:
            loaded = loaded.bind("CALL", loaded.vocab.token(53)).link(background=False)
        except ValueError:
            return
    state = loaded.start()
    for _ in range(3):
        allowed = state.mask().nonzero()[0]
        if not len(allowed) or state.is_terminated():
            break
        try:
            state.commit_token(int(allowed[len(allowed) // 2]))
        except glrmask.StateRejectedError:
            if not closed:
                raise
            break


def peak() -> int:
    """Largest resident size so far, in bytes (0 where that is unknown)."""
    if resource is None:
        return 0
    found = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found if sys.platform == "darwin" else found << 10


def resident() -> int:
    """Resident size, in bytes."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, AttributeError):
        return peak()


def run(pool: list[Sample], mode: str, seed: int, numbers: range) -> None:
    """Run cases; :func:`say` each failure and the counts."""
    counts: collections.Counter[str] = collections.Counter()
    slowest = largest = 0.0
    for number in numbers:
        sample, kind, data = case(pool, mode, seed, number)
        say({"at": number})
        faulthandler.dump_traceback_later(HANGS, exit=True)
        before, highest, started = resident(), peak(), time.perf_counter()
        problem = ""
        try:
            loaded = sample.load(data)
            if mode == "raw":
                problem = "loaded"
            verdict = "loaded"
        except ValueError:
            verdict = "refused"
        except BaseException as error:  # whatever it is, it is the finding
            problem, verdict = f"{type(error).__name__}: {error}", "failed"
        if verdict == "loaded" and not problem:
            try:
                use(loaded, sample.closed)
            except glrmask.LimitExceededError:
                verdict = "loaded, then limited"
            except BaseException as error:
                problem = f"in use: {type(error).__name__}: {error}"
        loaded = None
        seconds = time.perf_counter() - started
        grown = peak() - before if peak() > highest else 0
        slowest, largest = max(slowest, seconds), max(largest, float(grown))
        if seconds > SECONDS:
            problem += f" {seconds:.1f} s"
        if grown > BYTES:
            problem += f" {grown >> 20} MB"
        counts[f"{kind}: {verdict}"] += 1
        if problem:
            say({"problem": f"{mode}:{number} ({sample.name}, {kind}): {problem.strip()[:300]}"})
    faulthandler.cancel_dump_traceback_later()
    say({"counts": dict(counts), "slowest": slowest, "largest": largest})


def say(told: dict[str, Any]) -> None:
    """One line for the process that started this one."""
    print(json.dumps(told), flush=True)


def chunks(cases: int, seed: int) -> Iterator[list[str]]:
    """Arguments of the processes that share the work."""
    for mode in ("raw", "sealed"):
        for first in range(0, cases, CHUNK):
            yield [mode, str(seed), str(first), str(min(cases, first + CHUNK))]


def watch(arguments: list[str], engine: str | None) -> tuple[list[str], dict[str, Any]]:
    """Run one process; what went wrong in it, and its counts."""
    command = [sys.executable, __file__, "--worker", *arguments, *(("--engine", engine) if engine else ())]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    output, code = done.stdout, done.returncode
    problems, at, result = [], "", {}
    for line in output.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            continue
        at = told.get("at", at)
        if "problem" in told:
            problems.append(told["problem"])
        if "counts" in told:
            result = told
    if code != 0 or not result:
        problems.append(f"{arguments[0]}:{at}: the process ended with {code} (1: it hung)")
    return problems, result


def main() -> int:
    """Print the counts; the exit code is 1 when any case failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000, help="of each half")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine")
    parser.add_argument("--only", metavar="MODE:NUMBER", help="run one case in this process")
    parser.add_argument("--worker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()

    if options.worker:
        mode, seed, first, last = options.worker
        run(samples(options.engine), mode, int(seed), range(int(first), int(last)))
        return 0
    if options.only:
        mode, number = options.only.split(":")
        run(samples(options.engine), mode, options.seed, range(int(number), int(number) + 1))
        return 0

    counts: dict[str, collections.Counter[str]] = {"raw": collections.Counter(), "sealed": collections.Counter()}
    slowest = largest = 0.0
    failures: list[str] = []
    started = time.perf_counter()
    work = list(chunks(options.cases, options.seed))
    with ThreadPoolExecutor(options.jobs) as pool:
        for arguments, (problems, result) in zip(work, pool.map(lambda a: watch(a, options.engine), work), strict=True):
            failures += problems
            print(*problems, sep="\n", end="\n" if problems else "", flush=True)
            counts[arguments[0]].update(result.get("counts", {}))
            slowest, largest = max(slowest, result.get("slowest", 0)), max(largest, result.get("largest", 0))
    for mode, found in counts.items():
        print(f"{mode}: {sum(found.values())} corruptions")
        for name, count in sorted(found.items()):
            print(f"  {name:32} {count:7}")
    print(
        f"{time.perf_counter() - started:.0f} s; slowest case {slowest:.2f} s, "
        f"largest {largest / 2**20:.1f} MB; {len(failures)} failed"
    )
    return int(bool(failures))


if __name__ == "__main__":
    raise SystemExit(main())
