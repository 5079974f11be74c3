"""Tables and plots of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "glrmask"  # the same figures give the same file
matplotlib.rcParams["svg.fonttype"] = "none"  # text stays text: a tenth of the size
from matplotlib import pyplot as plt  # noqa: E402
from measuring import RESULTS  # noqa: E402


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; the first column is text, the others numbers."""

    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    out = [line(head), "|:--" + "|--:" * (len(head) - 1) + "|", *map(line, rows)]
    return "\n".join(out) + "\n"


def number(value: float | None, digits: int = 2) -> str:
    """A figure with about so many significant digits."""
    if value is None:
        return "-"
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.{digits}f}"


def save(figure: Any, name: str, text: str) -> str:
    """Write ``results/plots/NAME.svg``; the Markdown that shows it."""
    folder = RESULTS / "plots"
    folder.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    return f"![{text}](plots/{name}.svg)\n"


def tails(curves: dict[str, Sequence[float]], points: Sequence[float], unit: str, name: str, text: str) -> str:
    """Quantile curves with the tail spread out: 90, 99, 99.9, 99.99 % are equal steps."""
    figure, axes = plt.subplots(figsize=(8, 4.2))
    shares = [max(1 - p / 100, 5e-5) for p in points]
    for label, values in curves.items():
        axes.plot(shares, values, marker=".", label=label, linestyle="-" if label.startswith("ours") else "--")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.invert_xaxis()
    axes.set_xticks([1, 0.5, 0.1, 0.01, 0.001, 0.0001], ["min", "p50", "p90", "p99", "p99.9", "p99.99"])
    axes.set_ylabel(unit)
    axes.set_title(text)
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8)
    return save(figure, name, text)


def bars(groups: Sequence[str], series: dict[str, Sequence[float | None]], unit: str, name: str, text: str) -> str:
    """Grouped bars on a logarithmic axis; None leaves a gap."""
    figure, axes = plt.subplots(figsize=(9, 4.2))
    width = 0.8 / max(1, len(series))
    for i, (label, values) in enumerate(series.items()):
        at = [g + (i - (len(series) - 1) / 2) * width for g in range(len(groups))]
        axes.bar(at, [v if v is not None else 0 for v in values], width, label=label)
    axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), groups, rotation=20)
    axes.set_ylabel(unit)
    axes.set_title(text)
    axes.grid(True, axis="y", alpha=0.3)
    axes.legend(fontsize=8)
    return save(figure, name, text)


def growth(series: dict[str, tuple[Sequence[float], Sequence[float]]], x: str, y: str, name: str, text: str) -> str:
    """Costs over sizes, both logarithmic, so that a power law is a line."""
    figure, axes = plt.subplots(figsize=(7, 4))
    for label, (sizes, costs) in series.items():
        axes.plot(sizes, costs, marker="o", label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(text)
    axes.grid(True, which="both", alpha=0.2)
    axes.legend(fontsize=8)
    return save(figure, name, text)
