"""The section of the report that compares with the peers."""

from __future__ import annotations

from typing import Any

from plots import bars, number, table, tails

NAMES = ("p50", "p90", "p99", "p99.9", "max")
# Issue 7: TBM p50, p90, p99, p99.9, max (us); TTFM p50, p90, p99, max (ms); refused.
TARGETS: dict[str, tuple[float, ...]] = {
    "ours-auto": (1.2, 3, 10, 25, 300, 0.9, 2.0, 12, 28, 30),
    "ours-auto-alone": (1.2, 3, 10, 25, 300, 0.9, 2.0, 12, 28, 30),
    "ours-fastruntime": (1.2, 3, 8, 20, 48, 10, 60, 400, 1000, 30),
}
# Issue 7: compile (ms), TBM p50, p99 (us) of AUTO.
GRAMMAR_TARGETS = {
    "arith": (2, 2, 20),
    "json": (2, 1.5, 10),
    "sql": (5, 3, 40),
    "c": (10, 5, 100),
    "ambig": (2, 10, 60),
    "palin": (1, 5, 20),
}
# What the peers took on the machine that the targets were set on: a measure of this machine.
PUBLISHED = {
    "llguidance": (9.6, 37, 641, 1158, 3279, 0.9, 2.0, 12.5, 28),
    "glrmask-fastmasks": (3.4, 5.7, 11.3, 25.7, 48, 25.9, 129, 1199, 1765),
    "glrmask-fastcompile": (4.7, 69, 224, 569, 2614, 26.5, 46.9, 404, 1534),
}
TITLES = {
    "ours-auto": "ours, AUTO (worker on)",
    "ours-auto-alone": "ours, AUTO (worker off)",
    "ours-fastbuild": "ours, FAST_BUILD",
    "ours-balanced": "ours, BALANCED",
    "ours-fastruntime": "ours, FAST_RUNTIME",
    "llguidance": "llguidance 1.9.1",
    "glrmask-fastmasks": "glrmask 0.5.0 FAST_MASKS",
    "glrmask-fastcompile": "glrmask 0.5.0 FAST_COMPILE",
    "glrmask-auto": "glrmask 0.5.0 AUTO",
}
HEAD = ["engine", *(f"TBM {n} (us)" for n in NAMES), *(f"TTFM {n} (ms)" for n in (*NAMES[:3], "max")), "refused"]


def figures(row: dict[str, Any]) -> list[float]:
    """The columns of the table of issue 7."""
    ttfm = row["ttfm"]
    return [*row["tbm"], *ttfm[:3], ttfm[4], row["refused"]]


def section(data: dict[str, Any]) -> list[str]:
    """Title, then the parts."""
    out = ["Beside the peers"]
    out.append(f"Peers of this run: {', '.join(data['peers'])}; one thread each, whole calls from Python.\n")
    if data["limit"]:
        out.append(f"**A short run: the first {data['limit']} schemas only.**\n")
    if data["schemas"]:
        out += schemas(data)
    if data["common_ground"]:
        title, _, rows = data["common_ground"].partition("\n")
        out.append("### Common ground\n")
        out.append(f"The harness's own table: {title}.\n")
        out.append(rows.strip() + "\n")
    if data["grammars"]:
        out += grammars(data["grammars"])
    return out


def schemas(data: dict[str, Any]) -> list[str]:
    """JSON Schema."""
    found = data["schemas"]
    any_row = next(iter(found.values()))
    out = [f"### {any_row['files']} JSON schemas, Llama-3 vocabulary\n"]
    out.append(
        "TBM is mask + commit of one token, TTFM schema text to first mask. The smallest of "
        f"{any_row['repeats']} run(s) counts for each step.\n"
    )
    rows = []
    for name, row in found.items():
        rows.append([TITLES[name], *(number(v) for v in figures(row)[:-1]), row["refused"]])
        if name in TARGETS:
            target = TARGETS[name]
            rows.append(["*to reach*", *(f"*{v:g}*" for v in target[:-1]), f"*≤ {target[-1]:g}*"])
    out.append(table(HEAD, rows))
    out.append("#### Targets: reached / target\n")
    rows = []
    for name, target in TARGETS.items():
        if name in found:
            rows.append([TITLES[name], *(verdict(v, t) for v, t in zip(figures(found[name]), target, strict=True))])
    out.append(table(HEAD, rows))
    for peer in ("llguidance", "glrmask-fastmasks"):
        if peer in found:
            out.append(f"#### As ratios to {TITLES[peer]} of this run (below 1: ours is faster)\n")
            base = figures(found[peer])
            rows = [
                [TITLES[name], *(f"{v / b:.2f}" for v, b in zip(figures(row)[:-1], base[:-1], strict=True))]
                for name, row in found.items()
                if name.startswith("ours")
            ]
            out.append(table(HEAD[:-1], rows))
    rows = [
        [TITLES[name], *(f"{v / p:.2f}" for v, p in zip(figures(found[name])[:-1], published, strict=True))]
        for name, published in PUBLISHED.items()
        if name in found
    ]
    if rows:
        out.append(
            "#### The peers of this run against what they took where the targets were set (1: the same machine)\n"
        )
        out.append(table(HEAD[:-1], rows))
    head = [
        "engine",
        "compiled",
        "failed",
        "valid rejected",
        "invalid accepted",
        "run errors",
        "mask and commit differ",
    ]
    head += ["steps", "mask p50 (us)", "mask p99", "commit p50 (us)", "commit p99", "peak RSS (MiB)", "seconds", "load"]
    rows = [
        [
            TITLES[name],
            *(row[k] for k in ("compiled", "failed", "valid_rejected", "invalid_accepted", "run_errors")),
            row["mask_commit_differ"],
            f"{row['steps']:,}",
            *(number(v) for v in (row["mask"][0], row["mask"][2], row["commit"][0], row["commit"][2])),
            f"{row['peak_rss_kb'] / 1024:,.0f}",
            row["wall_s"],
            row["load"],
        ]
        for name, row in found.items()
    ]
    out.append("#### Outcomes\n")
    out.append(table(head, rows))
    tbm = {name: row["tbm_curve"] for name, row in found.items()}
    ttfm = {name: row["ttfm_curve"] for name, row in found.items()}
    out.append(tails(tbm, data["curve"], "us", "tbm", "Mask + commit of one token, quantiles"))
    out.append(tails(ttfm, data["curve"], "ms", "ttfm", "Schema text to first mask, quantiles"))
    return out


def verdict(value: float, target: float) -> str:
    """A ratio to the target, marked when it is missed."""
    ratio = value / target
    return f"{ratio:.2f}" if ratio <= 1 else f"**{ratio:.2f}**"


def grammars(found: dict[str, Any]) -> list[str]:
    """Grammars outside JSON Schema."""
    names = list(dict.fromkeys(g for rows in found.values() for g in rows))
    out = ["### Grammars outside JSON Schema\n", "Compile (ms) / TBM p50 / p99 (us).\n"]
    head = ["grammar", "*to reach in AUTO*", *(TITLES[name] for name in found)]
    rows = []
    for grammar in names:
        target = GRAMMAR_TARGETS.get(grammar.split("_")[0])
        goal = " / ".join(f"{v:g}" for v in target) if target else ""
        rows.append(
            [grammar, f"*{goal}*", *(short(rows_of.get(grammar), name, target) for name, rows_of in found.items())]
        )
    out.append(table(head, rows))
    wrong = [
        f"{TITLES[name]} on {grammar}"
        for name, rows_of in found.items()
        for grammar, row in rows_of.items()
        if "failed" not in row and any(a != b for a, b in (row["valid_accepted"], row["broken_rejected"]))
    ]
    out.append("Wrong verdicts: " + ("; ".join(wrong) if wrong else "none") + ".\n")
    for index, quantile in ((0, "p50"), (2, "p99")):
        series = {
            name: [rows_of[g]["tbm"][index] if "tbm" in rows_of.get(g, {}) else None for g in names]
            for name, rows_of in found.items()
        }
        out.append(bars(names, series, "us", f"grammars_{quantile}", f"Mask + commit, {quantile}, by grammar"))
    series = {
        name: [rows_of[g]["compile"] if "compile" in rows_of.get(g, {}) else None for g in names]
        for name, rows_of in found.items()
    }
    out.append(bars(names, series, "ms", "grammars_compile", "Compile, by grammar"))
    return out


def short(row: dict[str, Any] | None, name: str, target: tuple[float, ...] | None) -> str:
    """One cell; a missed target of AUTO is bold."""
    if row is None:
        return "-"
    if "failed" in row:
        return str(row["failed"])
    values = (row["compile"], row["tbm"][0], row["tbm"][2])
    judged = target if target and name.startswith("ours-auto") else (float("inf"),) * 3
    return " / ".join(number(v, 1) if v <= t else f"**{number(v, 1)}**" for v, t in zip(values, judged, strict=True))
