"""What the measuring commands of this folder share: where results go, what the machine is, environments, figures.

The commands only measure and write ``results/data/NAME.json``; ``report.py`` turns those files into tables and plots.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
SHARED = HERE.parents[1] / "shared"
PLOTTING = ("matplotlib",)  # what report.py needs, with the numpy that comes along


def default_work() -> Path:
    """Where environments and raw measurements are kept between runs."""
    return Path(tempfile.gettempdir()) / "glrmask-benchmarks"


def environment(folder: Path, *packages: str) -> Path:
    """The Python of a virtual environment with these packages, made when it is not there.

    Cost: a download the first time. An environment once made is taken as it is.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "packages.txt"
    if not done.exists() or done.read_text(encoding="utf-8").split() != list(packages):
        print(f"making the environment {folder} with {', '.join(packages)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        done.write_text("\n".join(packages) + "\n", encoding="utf-8")
    return python


def machine() -> dict[str, Any]:
    """Notes that belong beside every figure: processor, system, versions, commit, load."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "processor": model,
        "cpus": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "compiler": output("cc", "--version").split("\n")[0],
        "commit": output("git", "-C", str(HERE), "rev-parse", "--short=10", "HEAD"),
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()) + " UTC",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def output(*command: str) -> str:
    """What a command prints; empty when it cannot run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def save(name: str, data: dict[str, Any]) -> Path:
    """Write ``results/data/NAME.json`` with the machine notes."""
    path = RESULTS / "data" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": machine(), **data}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"written: {path.relative_to(HERE)}", file=sys.stderr)
    return path


def fitted_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The k of ``cost = c * size ** k``: the slope of the least-squares line through the logarithms."""
    return float(np.polyfit(np.log(np.asarray(sizes, float)), np.log(np.asarray(costs, float)), 1)[0])


def smallest(call: Callable[[], Any], repeats: int, clock: Callable[[], int] = time.thread_time_ns) -> float:
    """Nanoseconds of the fastest of several calls, in processor time of the thread unless told otherwise."""
    best = float("inf")
    for _ in range(repeats):
        begin = clock()
        call()
        best = min(best, clock() - begin)
    return best


def rss() -> int:
    """Resident bytes of this process now; 0 where the system does not tell in this way."""
    path = Path("/proc/self/statm")
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if path.exists() else 0
