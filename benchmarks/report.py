"""Write ``results/REPORT.md`` and its plots from ``results/data/*.json``; needs matplotlib, measures nothing.

    python benchmarks/report.py

``results/notes/NAME.md`` holds what people found out about a section (profiles, reasons of a miss); it goes into the
report as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import report_comparison
import report_own
from measuring import RESULTS

Section = Callable[[dict[str, Any]], list[str]]

SECTIONS: dict[str, Section] = {
    "comparison": report_comparison.section,
    "phases": report_own.phases,
    "engine_costs": report_own.costs,
    "profile": report_own.profile,
    "scaling": report_own.scaling,
    "memory": report_own.memory,
}
INTRODUCTION = """# Measured

Made by `python benchmarks/compare.py` (comparison with the peers) and `python benchmarks/figures.py` (our own figures);
how to read it is in [the README](../README.md). Every section says on which machine and commit it was measured.
"""


def machine_line(notes: dict[str, Any]) -> str:
    """One line of machine notes."""
    return (
        f"*{notes['date']}, commit `{notes['commit']}`, {notes['processor']}, {notes['cpus']} CPUs, {notes['system']}, "
        f"Python {notes['python']}, {notes['compiler']}, load at the end {notes['load']}.*\n"
    )


def lines() -> Iterable[str]:
    """The report."""
    yield INTRODUCTION
    for name, section in SECTIONS.items():
        path = RESULTS / "data" / f"{name}.json"
        if not path.exists():
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        title, *body = section(data)
        yield f"## {title}\n"
        if "machine" in data:
            yield machine_line(data["machine"])
        yield from body
        notes = RESULTS / "notes" / f"{name}.md"
        if notes.exists():
            yield notes.read_text(encoding="utf-8")


def main() -> int:
    path = RESULTS / "REPORT.md"
    path.write_text("\n".join(lines()).rstrip() + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
