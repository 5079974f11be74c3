"""The official JSON Schema test suite, through a compiled constraint: right, refused, wrong.

    python benchmarks/jsonschema_suite.py [FILE.jsonl.gz] [--engine NAME] [--verbose]

A group is *right* when every valid instance (keys in schema order, accepted spellings) is accepted and every
invalid one is not, or when it has no valid instance and compiling raises; *refused* when compiling raises;
*wide* when an invalid instance is accepted (the worst); *narrow* when a valid one is not.
Groups of ``format`` expect an annotation, while formats are asserted here, and are counted apart.
"""

from __future__ import annotations

import argparse
from collections import Counter

from json_schema_judge import compile_schema, rows
from respell import reorder, spell

from glrmask import GrammarError


def judge(group: dict, engine: str | None) -> tuple[str, str]:
    """(verdict, detail) of one group."""
    schema, tests = group["schema"], group["tests"]
    if group["draft"] == "draft7" and isinstance(schema, dict) and "$schema" not in schema:
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    try:
        constraint = compile_schema(schema, engine)
    except GrammarError as error:
        return ("refused" if any(t["valid"] for t in tests) else "right"), str(error)
    narrow = ""
    for test in tests:
        text = spell(reorder(test["data"], schema, schema))
        accepted = constraint.accepts(text)
        if accepted and not test["valid"]:
            return "wide", f"{test['description']}: {text}"
        if test["valid"] and not accepted:
            narrow = f"{test['description']}: {text}"
    return ("narrow", narrow) if narrow else ("right", "")


def main() -> int:
    """Print the counts; the exit code is 1 when a group apart from ``format`` is wide."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?")
    parser.add_argument("--engine")
    parser.add_argument("--verbose", action="store_true", help="show every group that is not right")
    options = parser.parse_args()
    counts: Counter[tuple[str, str, str]] = Counter()
    for group in rows(options.file, "json_schema_suite_dev.jsonl.gz"):
        verdict, detail = judge(group, options.engine)
        kind = "format" if group["keyword"].startswith("format") else "assertions"
        counts[group["draft"], kind, verdict] += 1
        if verdict != "right" and (options.verbose or kind != "format"):
            print(f"{verdict:8} {group['draft']} {group['keyword']}: {group['description']}: {detail[:200]}")
    for draft, kind in sorted({key[:2] for key in counts}):
        numbers = {v: counts[draft, kind, v] for v in ("right", "refused", "narrow", "wide")}
        total = sum(numbers.values())
        share = 100 * numbers["refused"] / total
        print(f"{draft:14} {kind:10} {total:4} groups: {numbers} ({share:.1f} % refused)")
    return int(any(key[1] != "format" and key[2] == "wide" for key in counts))


if __name__ == "__main__":
    raise SystemExit(main())
