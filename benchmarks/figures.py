"""Our own figures, all of them, and the report: phases of the first mask, the design's costs, growth, memory.

    python benchmarks/figures.py [--quick]

Runs ``phases.py``, ``engine_costs.py``, ``scaling.py`` and ``memory.py`` one after the other in processes of their own
(about ten minutes on an idle machine) and then ``report.py`` in an environment that has matplotlib.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from measuring import HERE, PLOTTING, default_work, environment


def main() -> int:
    """Run all; the first failing exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=default_work(), help="where the environment for plots is kept")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and smaller sizes")
    arguments = parser.parse_args()
    quick = {
        "phases.py": ["--repeats", "1", "--schemas", "60"],
        "engine_costs.py": ["--repeats", "2", "--schemas", "20"],
        "scaling.py": ["--repeats", "1", "--quick"],
        "memory.py": ["--schemas", "100"],
    }
    for script, options in quick.items():
        print(f"-- {script}", file=sys.stderr, flush=True)
        command = [sys.executable, str(HERE / script), *(options if arguments.quick else [])]
        code = subprocess.run(command).returncode
        if code:
            return code
    # Its exit code tells whether counts moved, which is the business of tox -e perf.
    subprocess.run([sys.executable, str(HERE / "perf" / "guard.py"), "--profile"])
    plotting = environment(arguments.work / "plotting", *PLOTTING)
    return subprocess.run([str(plotting), str(HERE / "report.py")]).returncode


if __name__ == "__main__":
    raise SystemExit(main())
