"""Real-world schemas with instances, through a compiled constraint.

    python benchmarks/maskbench_check.py [FILE.jsonl.gz] [--engine NAME] [--any-order] [--times] [--profile]

Prints how many schemas compile in strict mode, every refusal with its reason, and every instance that is
judged differently from its label. With ``--any-order`` instances are taken as they are written and schemas
compile with ``property_order="any"``. ``--times`` measures only the front-end (schema text to IR), and
``--profile`` shows where the ten slowest of that spend it.
"""

from __future__ import annotations

import argparse
import contextlib
import cProfile
import gc
import json
import pstats
import time
from collections import Counter

from json_schema_judge import compile_schema, rows
from respell import reorder, spell

from glrmask import GrammarError


def times(file: str | None, profiled: bool) -> None:
    """Front-end time of every schema, in this process, first contact included."""
    from glrmask_frontend_jsonschema.plugin import JsonSchemaFrontend

    frontend = JsonSchemaFrontend()
    frontend.parse("{}", {})
    texts = [(row["name"], json.dumps(row["schema"])) for row in rows(file, "maskbench_dev.jsonl.gz")]
    gc.collect()
    spent = []
    for name, text in texts:
        started = time.process_time()
        with contextlib.suppress(GrammarError):
            frontend.parse(text, {})
        spent.append((time.process_time() - started, name, len(text)))
    spent.sort()
    if profiled:
        slowest, profile = {name for _, name, _ in spent[-10:]}, cProfile.Profile()
        profile.enable()
        for name, text in texts:
            if name in slowest:
                with contextlib.suppress(GrammarError):
                    frontend.parse(text, {})
        profile.disable()
        pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(20)
    for share in (0.5, 0.9, 0.99):
        print(f"{share:.0%}: {spent[int(share * len(spent)) - 1][0] * 1e3:.2f} ms")
    print("slowest:", *(f"{s * 1e3:.1f} ms {name} ({size} bytes)" for s, name, size in spent[-10:]), sep="\n  ")


def main() -> int:
    """Print counts; the exit code is 1 when an invalid instance is accepted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--engine")
    parser.add_argument("--any-order", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--slow", type=float, default=1.0, help="show schemas that take longer, in seconds")
    options = parser.parse_args()
    if options.times or options.profile:
        times(options.file, options.profile)
        return 0
    extra = {"property_order": "any"} if options.any_order else {}
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows(options.file, "maskbench_dev.jsonl.gz"):
        schema, started = row["schema"], time.perf_counter()
        try:
            constraint = compile_schema(schema, options.engine, **extra)
        except GrammarError as error:
            counts["refused"] += 1
            reasons[str(error).partition(". ")[0]] += 1
            continue
        except Exception as error:
            counts["failed"] += 1
            print(f"failed   {row['name']}: {type(error).__name__}: {error}")
            continue
        counts["compiled"] += 1
        for test in row["tests"]:
            text = spell(test["data"] if options.any_order else reorder(test["data"], schema, schema))
            accepted = constraint.accepts(text)
            verdict = "right" if accepted == test["valid"] else "wide" if accepted else "narrow"
            counts[verdict] += 1
            if verdict != "right":
                print(f"{verdict:8} {row['name']}: {text[:300]}")
        seconds = time.perf_counter() - started
        if seconds > options.slow:
            print(f"slow     {row['name']}: {seconds:.1f} s")
    for reason, count in reasons.most_common():
        print(f"{count:3} {reason}")
    print(dict(counts))
    return int(counts["wide"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
