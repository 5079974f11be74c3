"""The sections of the report about our own figures."""

from __future__ import annotations

from typing import Any

from plots import growth, number, table

MIB = 2**20
KEYS = ("p50", "p90", "p99", "p99.9", "p99.99", "max")


def costs(data: dict[str, Any]) -> list[str]:
    """The costs of the engine's design."""
    first = data["first_visit"]
    goals: list[tuple[str, str, float | None, float]] = [
        ("`fill_mask` on a cached position, p50 over texts", "< 0.8 us", data["cached"]["all"].get("p50"), 0.8),
        ("`fill_mask` again at the same place, p50 of texts", "< 0.8 us", data["again_us"]["p50"], 0.8),
        ("`fill_mask`, tables warm, cache miss, C grammar, p50", "< 5 us", data["warm_miss"]["C"]["p50"], 5),
        ("`fill_mask`, tables warm, cache miss, C grammar, p99", "< 30 us", data["warm_miss"]["C"]["p99"], 30),
        ("`commit_token`, median over schemas and grammars", "< 0.6 us", data["commit"]["all"]["p50"], 0.6),
        ("`commit_token`, median on the C text", "< 0.6 us", data["commit"]["C"]["p50"], 0.6),
        ("first visit, narrow position, p50", "< 10 us", first["narrow"].get("p50"), 10),
        ("first visit, narrow position, p90", "< 10 us", first["narrow"].get("p90"), 10),
        ("first visit, wide position, p50", "< 100 us", first["wide"].get("p50"), 100),
        ("first visit, wide position, p90", "< 100 us", first["wide"].get("p90"), 100),
        ("static mode, any position, p99.99", "< 25 us", data["static"]["all"]["p99.99"], 25),
        ("static build, C grammar", "< 50 ms", data["static_build_ms"]["C"], 50),
        ("link, object of 1,000 keys, p50", "< 1 ms", data["link_ms"]["p50"], 1),
        ("vocabulary build, 128,000 tokens", "< 150 ms", data["vocab_build_ms"], 150),
    ]
    out = ["Costs that the engine's design sets as goals"]
    out.append(f"Whole calls from Python, one thread, vocabulary {data['vocab']} of {data['tokens']:,} tokens.\n")
    rows = [
        (what, goal, number(value), "met" if value is not None and value < limit else "**missed**")
        for what, goal, value, limit in goals
    ]
    out.append(table(["figure", "target", "reached", ""], rows))
    for key, title in (
        ("cached", "`fill_mask` on positions of the cache of final masks"),
        ("warm_miss", "`fill_mask` with warm tables and no cache of final masks"),
        (
            "static",
            f"`fill_mask` in FAST_RUNTIME, no cache of final masks ({data['static_refused']} refused by a limit)",
        ),
        ("commit", "`commit_token`"),
    ):
        out.append(f"#### {title} (us)\n")
        rows = [(n, f["steps"], *(number(f.get(k)) for k in KEYS)) for n, f in data[key].items()]
        out.append(table(["texts", "steps", *KEYS], rows))
    out.append("#### First visits in FAST_BUILD (us): steps that had to make table entries\n")
    titles = {
        "narrow": "narrow (fewer than 1,000 tokens allowed)",
        "wide": "wide",
        "wide_first": "the first wide one of a vocabulary",
    }
    rows = [(titles[n], f["steps"], *(number(f.get(k)) for k in KEYS)) for n, f in first.items()]
    out.append(table(["positions", "steps", *KEYS], rows))
    if "paced" in data:
        out.append(f"#### Mask + commit after a pause of {data['pause_ms']:g} ms before each token (us)\n")
        out.append(
            "First 60 tokens of a text of each of 30 schemas, one pass, fresh constraints: what a model that takes its "
            "time sees, with caches gone cold meanwhile. AUTO's worker fills tables during the pauses.\n"
        )
        rows = [(n, f["steps"], *(number(f.get(k)) for k in KEYS)) for n, f in data["paced"].items()]
        out.append(table(["level", "steps", *KEYS], rows))
    if "clones" in data:
        out.append("#### Clones at every place of the C text, tables warm, no cache of final masks (us)\n")
        rows = [(n, f["steps"], *(number(f.get(k)) for k in KEYS)) for n, f in data["clones"].items()]
        out.append(table(["", "steps", *KEYS], rows))
    builds = ", ".join(f"{name} {number(value)} ms" for name, value in data["static_build_ms"].items())
    out.append(f"Static builds, the text read before: {builds}.\n")
    return out


def phases(data: dict[str, Any]) -> list[str]:
    """The parts of the time to first mask."""
    out = ["Where the time to first mask goes"]
    out.append("Processor time in ms; AUTO without its worker. Share: of the time of all schemas together.\n")
    for level, found in data["levels"].items():
        out.append(f"### {level}, {found['schemas']} schemas\n")
        shares = [*found["share"], 1.0]
        rows = [
            (name, *(number(v) for v in values), f"{100 * share:.1f} %")
            for (name, values), share in zip(found["quantiles"].items(), shares, strict=True)
        ]
        out.append(table(["phase", "p50", "p90", "p99", "max", "share"], rows))
        rows = [(f"`{name}`", *(number(v) for v in values)) for name, values in found["slowest"].items()]
        out.append(table(["slowest", *data["phases"]], rows))
    if "python" in data:
        out.append("### Python's part of compiling (cProfile, which makes small functions look dearer), per cent\n")
        out.append(table(["module", "%"], data["python"]["modules"]))
        out.append(table(["function", "%"], [(f"`{name}`", share) for name, share in data["python"]["functions"]]))
    return out


def profile(data: dict[str, Any]) -> list[str]:
    """Instructions of the guard's paths, and the functions that take most of them."""
    out = ["Where the engine's instructions go"]
    out.append(f"The paths of `tox -e perf`, an artificial vocabulary of 128,000 tokens; {data['toolchain']}.\n")
    rows = [
        (name, f"{data['counts'][name]:,}", ", ".join(f"`{function}` {share:.0f} %" for function, share in functions))
        for name, functions in data["functions"].items()
    ]
    out.append(table(["path", "instructions", "functions"], rows))
    return out


def scaling(data: dict[str, Any]) -> list[str]:
    """Growth."""
    titles = {
        "vocabulary": "Vocabulary size",
        "properties": "Schema size: n optional properties",
        "enum": "Enum size: n strings",
        "text": "Text length",
        "ambiguity": "Ambiguity: all commits of a text",
        "batch": "Batch size, one thread",
        "threads": "Threads: masks per millisecond (more is better)",
    }
    out = ["How costs grow"]
    out.append(
        "k is the fitted exponent of cost = c·size^k over the larger half of the sizes: 1 is linear, 0 does not grow. "
        "Processor time of the thread; threads on the wall clock. Masks of schemas and enums without cached "
        "final masks.\n"
    )
    for name, part in data["series"].items():
        out.append(f"### {titles[name]}\n")
        head = [part["x"], *(f"{size:,.0f}" for size in part["sizes"]), "k"]
        rows = [
            [f"{label} ({part['y']})", *(number(v, 4) for v in values), number(part["exponents"][label])]
            for label, values in part["costs"].items()
        ]
        out.append(table(head, rows))
        if "rss_grown_kib" in part:
            grown = ", ".join(
                f"{size:,.0f} bytes {kib:,} KiB" for size, kib in zip(part["sizes"], part["rss_grown_kib"], strict=True)
            )
            out.append(f"Resident size grown while a text was written (history of 64 commits): {grown}.\n")
        curves = {label: (part["sizes"], values) for label, values in part["costs"].items()}
        out.append(growth(curves, part["x"], part["y"], f"scaling_{name}", titles[name]))
    return out


def memory(data: dict[str, Any]) -> list[str]:
    """Bytes."""
    out = ["Memory", "### Vocabularies\n"]
    rows = [
        (v["name"], f"{v['tokens']:,}", f"{v['engine'] / MIB:.1f}", f"{v['rss'] / MIB:.1f}")
        for v in data["vocabularies"]
    ]
    out.append(table(["vocabulary", "tokens", "engine (MiB)", "resident, Python's part included (MiB)"], rows))
    out.append("### Constraints and states\n")
    names = ("compiled", "after_text", "final_masks", "state_start", "state_end")
    rows = [
        (f"{c['grammar']}, {c['level']}", *(f"{c[name] / 1024:,.0f}" for name in names)) for c in data["constraints"]
    ]
    head = [
        "grammar",
        "compiled (KiB)",
        "after one text (KiB)",
        "of that final masks",
        "a state at the start",
        "at the end",
    ]
    out.append(table(head, rows))
    many = {name: run for name, run in data["many"].items() if "traced" not in run}
    some = next(iter(many.values()))["points"]
    out.append(f"### Resident size of a process that sees {some[-1][0]:,} different schemas\n")
    out.append(
        "Each is compiled in AUTO, asked for the masks of a text, and dropped unless the row says otherwise; "
        f'"small" is `Limits(mask_cache_bytes={data["limit"]:,})`. MiB.\n'
    )
    head = ["schemas", *(f"{done:,}" for done, _, _ in some), "kept by the heap at the end"]
    rows = [
        (name, *(f"{size / MIB:,.0f}" for _, size, _ in run["points"]), f"{run['points'][-1][2] / MIB:,.0f}")
        for name, run in many.items()
    ]
    out.append(table(head, rows))
    curves = {
        name: ([p[0] or 1 for p in run["points"]], [p[1] / MIB for p in run["points"]]) for name, run in many.items()
    }
    out.append(growth(curves, "schemas", "MiB", "memory_many", "Resident size"))
    return out + owners(data["many"])


def owners(many: dict[str, Any]) -> list[str]:
    """Where the bytes of kept constraints are."""
    out = ["### Where the bytes of a kept constraint are\n"]
    out.append(
        "Mean of all, KiB. *unused* is what is left of blocks that are not full, mostly never touched and so not "
        "resident. *Done* is when the worker had nothing left to do, or no room.\n"
    )
    columns: dict[str, dict[str, int]] = {}
    counts = {}
    for setting, run in many.items():
        if "owners" in run:
            kind = setting.removeprefix("every constraint kept").lstrip(", ") or "default"
            columns[kind] = run["owners"]
            counts[kind] = run["points"][-1][0]
            if run["idle_owners"] != run["owners"]:
                columns[f"{kind}, worker done"] = run["idle_owners"]
                counts[f"{kind}, worker done"] = run["points"][-1][0]
    names = next(iter(columns.values()))
    rows = [
        (name.replace("_", " "), *(f"{owned[name] / counts[kind] / 1024:,.1f}" for kind, owned in columns.items()))
        for name in names
    ]
    out.append(table(["owner", *columns], rows))
    for setting, run in many.items():
        if "idle_rss" in run:
            out.append(f"Resident once the worker was done, {setting}: {run['idle_rss'] / MIB:,.0f} MiB.\n")
        if "traced" in run:
            each = run["traced"] / run["points"][-1][0] / 1024
            out.append(f"Python objects (tracemalloc, front-end included): {each:.1f} KiB each.\n")
    return out
