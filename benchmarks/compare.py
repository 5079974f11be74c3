"""The comparison with the peers: one command makes their environment, runs everything and writes the report.

    python benchmarks/compare.py [--repeats 3] [--limit 60] [--peers-python PYTHON] [--only NAME ...] [--no-grammars]

Run it with the Python of an environment that has this project and tiktoken. The peers get an environment of their
own in the work folder, because one of them imports under our name. Each configuration runs in a process of its own,
one after the other, over the 600 schemas and over the grammars outside JSON Schema of ``shared/bench/peers``; with
--repeats the whole round is run so many times and the smallest time of each step counts. AUTO is run with its worker
(``ours-auto``, a second thread) and without (``ours-auto-alone``). Raw rows stay in the work folder, the digest goes to
``results/data/comparison.json``, and ``report.py`` writes ``results/REPORT.md``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from measuring import HERE, PLOTTING, SHARED, default_work, environment, save

PEERS = ("llguidance", "glrmask-fastmasks", "glrmask-fastcompile")
PEERS_ON_GRAMMARS = ("llguidance", "glrmask-auto")
OURS = ("ours-auto", "ours-auto-alone", "ours-fastbuild", "ours-balanced", "ours-fastruntime")
PACKAGES = ("glrmask==0.5.0", "llguidance==1.9.1", "tiktoken", "numpy")
WARM_NAME, WARM = "warm-up---0", 'start: "a"'
QUANTILES = (50.0, 90.0, 99.0, 99.9, 100.0)
CURVE = (0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.98, 99.99, 100)

Row = dict[str, Any]


def prepare(work: Path) -> None:
    """A working copy of the harness with our configurations, and the tasks as files."""
    source = SHARED / "bench" / "peers"
    harness = work / "harness"
    harness.mkdir(parents=True, exist_ok=True)
    for name in ("run.py", "worker.py", "vocabs.py", "summarize.py"):
        shutil.copyfile(source / name, harness / name)
    shutil.copyfile(source / "engines.py", harness / "harness_engines.py")
    shutil.copyfile(HERE / "comparison_engines.py", harness / "engines.py")
    if not (work / "schemas" / "list.txt").exists():
        data = SHARED / "data" / "maskbench_dev.jsonl.gz"
        folder = work / "schemas"
        command = [sys.executable, str(source / "expand.py"), str(data), str(folder / "data")]
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(command, check=True)
        grammars = work / "grammars" / "data"
        subprocess.run(
            [sys.executable, str(source / "grammar_tasks.py"), str(folder / "data"), str(grammars)], check=True
        )
        # A task that no table shows goes first: what an engine loads with the first Lark grammar is not that grammar's.
        warm = {
            "grammars": dict.fromkeys(("glrmask_lark", "llguidance_lark"), WARM),
            "tests": [{"valid": True, "text": "a"}],
        }
        (grammars / f"{WARM_NAME}.json").write_text(json.dumps(warm), encoding="utf-8")
        names = (grammars / "list.txt").read_text(encoding="utf-8")
        (grammars.parent / "list.txt").write_text(f"{WARM_NAME}.json\n{names}", encoding="utf-8")


def run(python: Path | str, config: str, work: Path, tasks: str, out: Path, options: list[str]) -> None:
    """One configuration over one list of tasks."""
    out.parent.mkdir(exist_ok=True)
    folder = work / tasks
    command = [str(python), str(work / "harness" / "run.py"), config, "--data", str(folder / "data")]
    command += ["--list", str(folder / "list.txt"), "--out", str(out), *options]
    subprocess.run(command, check=True, env={**os.environ, "VOCAB_DIR": str(SHARED / "data")})


def merged(paths: Iterable[Path]) -> dict[str, Any]:
    """Repeats of one configuration: the smallest time of each compile and step.

    The steps are the same each time, so this leaves out what other processes took, and nothing else.
    """
    documents = []
    for path in paths:
        with gzip.open(path, "rt") as file:
            documents.append(json.load(file))
    first = documents[0]
    for other in documents[1:]:
        first["loadavg"] += other["loadavg"]
        rows = {row["file"]: row for row in other["rows"]}
        for row in first["rows"]:
            again = rows.get(row["file"])
            if again is None or not (done(row) and done(again)):
                continue
            for key in ("compile_ns", "start_ns", "first_mask_ns", "compile_cpu_ns"):
                row[key] = min(row[key], again[key])
            for key in ("mask_ns", "commit_ns"):
                if len(row[key]) == len(again[key]):
                    row[key] = np.minimum(row[key], again[key]).tolist()
    first["repeats"] = len(documents)
    return dict(first)


def done(row: Row) -> bool:
    """Whether a task was compiled and run."""
    return "failure" not in row and "compile_error" not in row


def first_mask(row: Row) -> int:
    """Nanoseconds from schema text to first mask; processor time of the compile where that is less, as the harness."""
    return int(min(row["compile_ns"], row["compile_cpu_ns"]) + row["start_ns"] + row["first_mask_ns"])


def common_ground(python: Path | str, work: Path, paths: Iterable[Path]) -> str:
    """The harness's own table of what every configuration compiles and accepts, token for token."""
    command = [
        str(python),
        str(work / "harness" / "summarize.py"),
        "--no-datasets",
        "--data",
        str(work / "schemas" / "data"),
    ]
    environ = {**os.environ, "VOCAB_DIR": str(SHARED / "data")}
    result = subprocess.run([*command, *map(str, paths)], capture_output=True, text=True, env=environ)
    _, _, table = result.stdout.partition("### Common ground: ")
    return table.strip()


def quantiles(values: np.ndarray[Any, Any], points: Iterable[float]) -> list[float]:
    return [round(float(v), 3) for v in np.percentile(values, list(points))] if len(values) else []


def digest(document: dict[str, Any]) -> dict[str, Any]:
    """The figures of one configuration over the schemas: TBM in us, TTFM in ms."""
    rows = document["rows"]
    good = [row for row in rows if done(row)]
    mask = np.concatenate([np.array(row["mask_ns"], float) for row in good]) / 1e3
    commit = np.concatenate([np.array(row["commit_ns"], float) for row in good]) / 1e3
    ttfm = np.array([first_mask(row) for row in good], float) / 1e6
    tests = [test for row in good for test in row["tests"]]
    return {
        "files": len(rows),
        "compiled": len(good),
        "refused": sum("compile_error" in row for row in rows),
        "failed": sum("failure" in row for row in rows),
        "valid_rejected": sum(bool(t[0]) and t[1] is not None and not t[2] for t in tests),
        "invalid_accepted": sum(not t[0] and bool(t[2]) for t in tests),
        "run_errors": sum(t[1] is None for t in tests) + sum("run_error" in row for row in good),
        "mask_commit_differ": sum(row["mismatch"] for row in good),
        "steps": len(mask),
        "tbm": quantiles(mask + commit, QUANTILES),
        "tbm_mean": round(float((mask + commit).mean()), 2),
        "mask": quantiles(mask, QUANTILES),
        "commit": quantiles(commit, QUANTILES),
        "ttfm": quantiles(ttfm, QUANTILES),
        "tbm_curve": quantiles(mask + commit, CURVE),
        "ttfm_curve": quantiles(ttfm, CURVE),
        "ready": document["workers"][0],
        "peak_rss_kb": max((row.get("peak_rss_kb", 0) for row in rows), default=0),
        "wall_s": round(document["wall_s"], 1),
        "load": round(max(document["loadavg"]), 1),
        "repeats": document["repeats"],
    }


def digest_grammars(document: dict[str, Any]) -> dict[str, Any]:
    """Per grammar: compile and first mask in ms, TBM in us."""
    found: dict[str, Any] = {}
    for row in document["rows"]:
        name = row["file"].split("---")[0]
        if row["file"].startswith(WARM_NAME):
            continue
        if not done(row):
            reason = row.get("failure") or "refused: " + row["compile_error"][:120]
            found[name] = {"failed": f"{reason} ({document['timeout']:.0f} s)" if reason == "timeout" else reason}
            continue
        both = (np.array(row["mask_ns"], float) + np.array(row["commit_ns"], float)) / 1e3
        found[name] = {
            "compile": round(min(row["compile_ns"], row["compile_cpu_ns"]) / 1e6, 2),
            "first_mask": round(row["first_mask_ns"] / 1e6, 3),
            "steps": len(both),
            "tbm": quantiles(both, QUANTILES),
            "valid_accepted": [sum(bool(t[2]) for t in row["tests"] if t[0]), sum(bool(t[0]) for t in row["tests"])],
            "broken_rejected": [
                sum(t[2] is False for t in row["tests"] if not t[0]),
                sum(not t[0] for t in row["tests"]),
            ],
        }
    return found


def main() -> int:
    """Run and write; see the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=default_work(), help="environments and raw rows")
    parser.add_argument("--peers-python", help="a Python that has the peers; made in the work folder without")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--limit", type=int, help="only so many schemas")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these configurations")
    parser.add_argument("--no-run", action="store_true", help="only the report, from the raw rows of the last run")
    parser.add_argument("--no-schemas", action="store_true")
    parser.add_argument("--no-grammars", action="store_true")
    parser.add_argument("--grammar-timeout", type=float, default=40.0, help="seconds of one grammar")
    arguments = parser.parse_args()
    if not (SHARED / "bench" / "peers").exists():
        print("SKIPPED: no folder shared/bench/peers beside the checkout", file=sys.stderr)
        return 0
    work: Path = arguments.work
    prepare(work)
    peers = arguments.peers_python or environment(work / "peers", *PACKAGES)
    plotting = environment(work / "plotting", *PLOTTING)
    limit = ["--limit", str(arguments.limit)] if arguments.limit else []
    plan = []
    if not arguments.no_schemas:
        plan += [("schemas", name, limit) for name in (*PEERS, *OURS)]
    if not arguments.no_grammars:
        patience = ["--timeout", str(arguments.grammar_timeout)]
        plan += [("grammars", name, patience) for name in (*PEERS_ON_GRAMMARS, *OURS)]
    wanted = set(arguments.only or ())
    plan = [step for step in plan if not wanted or step[1] in wanted]
    paths: dict[tuple[str, str], list[Path]] = {}
    for repeat in range(arguments.repeats):
        for tasks, name, options in plan:
            python = sys.executable if name.startswith("ours") else peers
            path = work / "raw" / f"{tasks}.{name}.{repeat}.json.gz"
            if not arguments.no_run:
                run(python, name, work, tasks, path, options)
            paths.setdefault((tasks, name), []).append(path)
    figures: dict[str, Any] = {"schemas": {}, "grammars": {}}
    for (tasks, name), files in paths.items():
        figures[tasks][name] = (digest if tasks == "schemas" else digest_grammars)(merged(files))
    versions = subprocess.run(
        [str(peers), "-m", "pip", "freeze"], capture_output=True, text=True, check=True
    ).stdout.split()
    figures["peers"] = [
        line for line in versions if line.split("==")[0] in ("glrmask", "llguidance", "tiktoken", "numpy")
    ]
    figures["curve"] = CURVE
    of_schemas = [path for (tasks, _), files in paths.items() if tasks == "schemas" for path in files]
    figures["common_ground"] = common_ground(peers, work, of_schemas) if of_schemas else ""
    figures["limit"] = arguments.limit
    save("comparison", figures)
    return subprocess.run([str(plotting), str(HERE / "report.py")]).returncode


if __name__ == "__main__":
    raise SystemExit(main())
