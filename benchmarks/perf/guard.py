"""Regression guard: instructions of the engine's hottest paths under callgrind, compared with stored counts.

    python benchmarks/perf/guard.py [--update] [--tolerance 5] [--profile] [--keep FOLDER]

Needs valgrind with its headers and a C compiler. The C sources are compiled as the extension module is, with
``driver.c`` in the place of Python, so that nothing but the library is counted; grammars, texts and the vocabulary are
made here and are the same every time. Counts of another compiler or C library are not comparable: they are then shown
and not judged, unless --strict asks for an error. A path that got cheaper by more than the tolerance is an error too:
store the better count with --update, or the next regression hides in the gap.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import re
import runpy
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from glrmask_engine_native.engine import NativeEngine
from glrmask_engine_native.program import encode

import glrmask

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENGINE = ROOT / "plugins" / "engine_native"
STORED = HERE / "counts.json"
PROFILE = HERE.parent / "results" / "data" / "profile.json"
TOKENS = 128_000
# valgrind counts each byte of "rep stosb" and "rep movsb", which the C library takes for large pieces; without them
# filling and copying a mask counts what it costs: one instruction per 32 bytes.
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{name}_threshold=0x40000000" for name in ("movsb", "stosb"))
HOST = 'glrm 1;\nstart start;\nextern grammar CALL;\nnt start = "<call>" CALL "</call>" | "none";\n'


# -- inputs ---------------------------------------------------------------------------------------------------


def vocabulary() -> dict[int, bytes]:
    """Tokens that look like a trained vocabulary: bytes, words by rank with and without a space, digits, punctuation,
    white space, pieces of UTF-8. The id of a byte is the byte."""
    rng = random.Random(1)
    onsets = [
        "",
        "b",
        "c",
        "d",
        "f",
        "g",
        "h",
        "l",
        "m",
        "n",
        "p",
        "r",
        "s",
        "t",
        "v",
        "w",
        "st",
        "tr",
        "pl",
        "ch",
        "qu",
    ]
    vowels = ["a", "e", "i", "o", "u", "ea", "ou", "io"]
    codas = ["", "n", "r", "s", "t", "l", "d", "ng", "nt", "ck", "ment", "tion", "x", "_"]
    found = dict.fromkeys(bytes([b]) for b in range(256))
    found.update(dict.fromkeys(str(n).encode() for n in range(1000)))
    found.update(dict.fromkeys(s * n for s in (b" ", b"\n", b"\t", b"=", b"-", b"*", b"/", b"#") for n in range(1, 17)))
    marks = [
        '"',
        "'",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ":",
        ";",
        ",",
        ".",
        "=",
        "<",
        ">",
        "+",
        "-",
        "*",
        "/",
        "!",
        "&",
        "|",
    ]
    found.update(dict.fromkeys((a + b + c).encode() for a in marks for b in marks for c in ("", "\n", " ")))
    found.update(dict.fromkeys(chr(c).encode() for c in range(0xA0, 0x600)))
    found.update(dict.fromkeys(chr(c).encode()[:2] for c in range(0x3040, 0xD7FF, 64)))
    while len(found) < TOKENS:
        word = "".join(
            rng.choice(onsets) + rng.choice(vowels) + rng.choice(codas) for _ in range(rng.choice((1, 1, 2, 2, 3)))
        )
        word = rng.choice((word, word, word.capitalize(), word.upper()))
        found[(rng.choice(("", " ", " ", " ", '"', "(", ".")) + word).encode()] = None
    return dict(enumerate(list(found)[:TOKENS]))


def longest_tokens(tokens: dict[int, bytes], text: bytes) -> list[int]:
    """The text cut greedily: at each place the longest token that is there."""
    ids = {data: i for i, data in tokens.items()}
    longest = max(map(len, ids))
    out, at = [], 0
    while at < len(text):
        size = next(n for n in range(min(longest, len(text) - at), 0, -1) if text[at : at + n] in ids)
        out.append(ids[text[at : at + size]])
        at += size
    return out


def packed(*arrays: Any) -> bytes:
    """Arrays as driver.c takes them: number of items, items, padding to 8 bytes."""
    out = b""
    for items in arrays:
        data = bytes(items) if isinstance(items, bytes) else items.tobytes()
        out += struct.pack("=q", len(items)) + data + b"\0" * (-len(data) % 8)
    return out


def recorded(call: Callable[[], Any]) -> bytes:
    """What the engine is handed when something is compiled."""
    found: list[bytes] = []

    def module_bytes(module: Any, code: Any) -> bytes:
        return packed(module.rows, module.args, bytes(module.blob), module.rules, array("i", [module.root]), code)

    def grammar(self: NativeEngine, module: Any, *rest: Any) -> Any:
        found.append(module_bytes(module, array("i")))
        return link(self, module, *rest)

    def program(self: NativeEngine, given: Any, patterns: Any, *rest: Any) -> Any:
        found.append(module_bytes(patterns, encode(given.definition)))
        return compile_program(self, given, patterns, *rest)

    link, compile_program = NativeEngine.link, NativeEngine.compile_program  # compiling is linking without parts
    with patch.object(NativeEngine, "link", grammar), patch.object(NativeEngine, "compile_program", program):
        call()
    return found[-1]


def order_text() -> bytes:
    """A document of the order schema."""
    lines = [{"product": f"Thing {i} of \u00e9t\u00e9", "pieces": i + 3, "price": 17.25 * (i + 1)} for i in range(3)]
    order = {"order": 12345, "placed": "2024-05-17T08:30:00Z", "currency": "EUR", "paid": True, "lines": lines}
    return json.dumps({**order, "comment": "to be delivered soon\n"}, ensure_ascii=False).encode()


def part() -> glrmask.Grammar:
    """A schema of 300 keys."""
    kinds: list[dict[str, Any]] = [{"type": "string"}, {"type": "integer"}, {"enum": ["red", "green", "blue"]}]
    properties = {f"key_{i}": kinds[i % len(kinds)] for i in range(300)}
    return glrmask.Grammar.from_json_schema({"type": "object", "properties": properties, "additionalProperties": False})


def write_inputs(folder: Path) -> str:
    """The files that driver.c reads; their digest."""
    tokens = vocabulary()
    vocab = glrmask.Vocab.from_id_to_bytes({b: bytes([b]) for b in range(256)})  # the modules do not depend on it
    schema = (ROOT / "examples" / "schemas" / "order.schema.json").read_text(encoding="utf-8")
    statements = (HERE / "statements.glrm").read_text(encoding="utf-8")
    dyck = runpy.run_path(str(ROOT / "examples" / "program_dyck.py"))
    offsets = np.cumsum([0, *map(len, tokens.values())], dtype=np.int64)
    options: dict[str, Any] = {"background": False, "engine": "native"}
    host = glrmask.Grammar.from_glrm(HOST).compile_unlinked(vocab)
    files = {
        "vocabulary": packed(np.array(list(tokens), np.uint32), offsets, b"".join(tokens.values())),
        "order": recorded(lambda: glrmask.Grammar.from_json_schema(schema).compile(vocab, **options)),
        "statements": recorded(lambda: glrmask.Grammar.from_glrm(statements).compile(vocab, **options)),
        "part": recorded(lambda: part().compile(vocab, **options)),
        "linked": recorded(lambda: host.bind("CALL", part().compile(vocab, **options)).link(**options)),
        "dyck": recorded(lambda: dyck["dyck"]().compile(vocab, dyck["patterns"](), **options)),
    }
    texts = {
        "order": order_text(),
        "statements": (HERE / "statements.txt").read_bytes(),
        "dyck": b"(" * 40 + b"[{word}{}]other" + b")" * 40,
    }
    for name, text in texts.items():
        files[f"{name}.text"] = packed(np.array(longest_tokens(tokens, text), np.uint32))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return hashlib.sha256(b"".join(name.encode() + data for name, data in sorted(files.items()))).hexdigest()[:16]


# -- running --------------------------------------------------------------------------------------------------


def compiler() -> list[str]:
    """The compiler and the flags of the extension module."""
    settings = runpy.run_path(str(ENGINE / "build_native.py"), run_name="guard")["compiler_options"](sys.platform)
    defines = [f"-D{name}={value}" for name, value in settings["define_macros"]]
    return [*shlex.split("cc"), *settings["extra_compile_args"], "-g", *defines, f"-I{ENGINE / 'csrc'}"]


def toolchain() -> str:
    """What counts depend on beside the sources."""
    version = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    return f"{version}, {platform.machine()}, {' '.join(platform.libc_ver())}"


def build(folder: Path) -> Path:
    """The driver with the engine's sources."""
    target = folder / "driver"
    sources = [str(path) for path in sorted((ENGINE / "csrc").glob("*.c"))]
    subprocess.run([*compiler(), str(HERE / "driver.c"), *sources, "-o", str(target), "-pthread", "-lm"], check=True)
    return target


def count(driver: Path, folder: Path) -> dict[str, int]:
    """Instructions by path."""
    base = folder / "callgrind.out"
    command = ["valgrind", "--tool=callgrind", "--quiet", "--instr-atstart=no", f"--callgrind-out-file={base}"]
    subprocess.run([*command, str(driver), str(folder)], check=True, env={**os.environ, "GLIBC_TUNABLES": TUNABLES})
    return {name: total for name, (_, total) in dumps(folder).items()}


def dumps(folder: Path) -> dict[str, tuple[Path, int]]:
    """Callgrind's files and their instructions, by path."""
    found = {}
    for path in sorted(folder.glob("callgrind.out.*"), key=lambda p: int(p.suffix[1:])):
        text = path.read_text(encoding="utf-8", errors="replace")
        name = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
        if name and total:
            found[name.group(1)] = (path, int(total.group(1)))
    return found


def profile(folder: Path) -> dict[str, list[tuple[str, float]]]:
    """The functions that take most of each path, inlined ones with the one they are in: (name, per cent)."""
    found = {}
    for name, (path, total) in dumps(folder).items():
        command = ["callgrind_annotate", "--auto=no", "--threshold=100", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shares: dict[str, float] = {}
        for count, function in re.findall(r"^ *([\d,]+) \([ \d.]+%\)  \S*?:(\S+)", text, re.MULTILINE):
            short = re.sub(r"('\d+|\.(constprop|part|isra)\.\d+)+$", "", function)
            shares[short] = shares.get(short, 0) + 100 * int(count.replace(",", "")) / total
        found[name] = sorted(((n, round(v, 1)) for n, v in shares.items()), key=lambda pair: -pair[1])[:6]
    return found


def main() -> int:
    """Count, compare or store; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="store the counts")
    parser.add_argument("--tolerance", type=float, default=5.0, help="per cent")
    parser.add_argument("--strict", action="store_true", help="another compiler is an error")
    parser.add_argument("--profile", action="store_true", help="also write results/data/profile.json for the report")
    parser.add_argument("--keep", type=Path, help="a folder for inputs and callgrind's files, to look into")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("SKIPPED: valgrind is not installed")
        return int(arguments.strict)
    with tempfile.TemporaryDirectory(prefix="glrmask-perf-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("callgrind.out*"):
            old.unlink()
        inputs = write_inputs(folder)
        counts = count(build(folder), folder)
        if arguments.profile:
            found = {"counts": counts, "functions": profile(folder), "toolchain": toolchain()}
            PROFILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            print(f"profile in {PROFILE.relative_to(ROOT)}")
    if arguments.update:
        stored = {"toolchain": toolchain(), "inputs": inputs, "counts": counts}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
        print("\n".join(f"{name:20} {n:>14,}" for name, n in counts.items()))
        print(f"stored in {STORED.name}")
        return 0
    return compare(counts, inputs, arguments.tolerance, arguments.strict)


def compare(counts: dict[str, int], inputs: str, tolerance: float, strict: bool) -> int:
    """Print a table; 1 when a path left its tolerance."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    judged = stored["toolchain"] == toolchain()
    failed = []
    print(f"{'path':20} {'instructions':>14} {'stored':>14} {'change':>8}")
    for name in sorted({*counts, *stored["counts"]}, key=list({**stored["counts"], **counts}).index):
        now, before = counts.get(name), stored["counts"].get(name)
        if now is None or before is None:
            failed.append(name)
            print(f"{name:20} {now or 'missing':>14} {before or 'not stored':>14}")
            continue
        change = 100 * (now / before - 1)
        outside = abs(change) > tolerance
        failed += [name] if outside else []
        print(f"{name:20} {now:>14,} {before:>14,} {change:>+7.1f}%{'  <--' if outside else ''}")
    if inputs != stored["inputs"]:
        print("The inputs are not those of the stored counts: a front-end makes other grammars than it did.")
    if not judged:
        print(f"NOT JUDGED: the stored counts are of {stored['toolchain']}, this is {toolchain()}")
        return int(strict)
    if failed:
        print(f"outside {tolerance:g} %: {', '.join(failed)}; --update stores new counts when the change is meant")
    return int(bool(failed))


if __name__ == "__main__":
    raise SystemExit(main())
