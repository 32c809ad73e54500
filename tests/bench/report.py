"""From runs to figures, goals, a table for people and build/bench.json."""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
from dataclasses import asdict

from bench import machine
from bench.campaign import BODIES, COMPARED_SIZE, CONNECTIONS, SCENARIOS, SIZES, Campaign, Summary
from support.truce_process import BINARY, REPOSITORY

FILE = REPOSITORY / "build" / "bench.json"
_REFERENCE = {"denied": "nginx-create", "create": "nginx-create", "unchanged": "nginx-update"}

# What fails a run: only ratios and counts, which do not depend on the machine.
# name: (path in the figures, bound, the bound is a minimum)
GATES = {
    "denied-rate": (("recorded", 16, "denied", "rate_ratio"), 0.45, True),
    "unchanged-rate": (("recorded", 16, "unchanged", "rate_ratio"), 0.45, True),
    "create-rate": (("recorded", 16, "create", "rate_ratio"), 0.15, True),
    # What is reached, less what medians of rounds differ by; the goals below are not (DESIGN.md).
    "denied-varied": (("varied", 16, "denied", "rate_ratio"), 0.60, True),
    "create-varied-16": (("varied", 16, "create", "rate_ratio"), 0.13, True),
    "create-varied-64": (("varied", 64, "create", "rate_ratio"), 0.17, True),
    "varied-unchanged": (("varied", 16, "unchanged", "rate_ratio"), 0.85, True),
    "denied-flat": (("scaled", "denied", "cpu_growth"), 1.2, False),
    "unchanged-flat": (("scaled", "unchanged", "cpu_growth"), 1.2, False),
    "create-flat": (("scaled", "create", "cpu_growth"), 1.2, False),
    "memory": (("bytes_per_ownership",), 520, False),
}
# What is told but fails nothing: what is to be reached with bodies as a cluster sends them, and
# figures of this machine.
GOALS = {
    "varied-denied": (("varied", 16, "denied", "rate_ratio"), 0.70, True),
    "varied-create-16": (("varied", 16, "create", "rate_ratio"), 0.19, True),
    "varied-create-64": (("varied", 64, "create", "rate_ratio"), 0.24, True),
    "create-p99-ms": (("recorded", 16, "create", "p99_ms"), 5.0, False),
    "ready-seconds": (("ready_seconds", SIZES[-1]), 5.0, False),
}
# What prototypes that do nothing else reached by the same method, with bodies of 4 KB: an event loop with TLS,
# simdjson and one look-up in memory; the same with threads and a durable insert whose commits are shared.
# Of a denial a server that reads the whole body and answers with a constant (DESIGN.md).
LIMITS = {
    "varied-denied": 0.85,
    "varied-unchanged": 1.15,
    "varied-create-16": 0.19,
    "varied-create-64": 0.26,
}


def figures_of(campaign: Campaign) -> dict:
    """Runs everything."""
    compared = {bodies: campaign.compare(bodies) for bodies in BODIES}
    scaled = campaign.scale()
    sizes = {size: truce for size, truce in campaign.truces.items()}
    small, large = sizes[SIZES[0]], sizes[SIZES[-1]]
    return {
        "machine": machine.description() | {"idle_processors_poll": campaign.processors_poll},
        "version": _version(),
        "body_bytes": campaign.body_bytes(),
        "compared_ownerships": COMPARED_SIZE,
        **{
            bodies: {count: _compared(runs[count]) for count in CONNECTIONS}
            for bodies, runs in compared.items()
        },
        "scaled": {name: _scaled(scaled[name]) for name in SCENARIOS},
        "resident_bytes": {size: truce.resident_bytes for size, truce in sizes.items()},
        "bytes_per_ownership": (large.resident_bytes - small.resident_bytes)
        / (large.ownerships - small.ownerships),
        "ready_seconds": {size: truce.ready_seconds for size, truce in sizes.items()},
    }


def _version() -> str:
    return subprocess.run(
        [str(BINARY), "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()


def _compared(runs: dict) -> dict:
    out = {name: asdict(Summary.of(found)) for name, found in runs.items()}
    for name, reference in _REFERENCE.items():
        # Of one round each, so that what slows a round down slows both.
        pairs = list(zip(runs[name], runs[reference]))
        out[name]["rate_ratio"] = statistics.median(a.rate / b.rate for a, b in pairs)
        out[name]["cpu_ratio"] = statistics.median(a.cpu_us / b.cpu_us for a, b in pairs)
    return out


def _scaled(runs: dict) -> dict:
    sizes = {size: asdict(Summary.of(found)) for size, found in runs.items()}
    growth = max(sizes[size]["cpu_us"] for size in SIZES) / sizes[SIZES[0]]["cpu_us"]
    return {"sizes": sizes, "cpu_growth": growth}


def look_up(figures: dict, path: tuple) -> float:
    value = figures
    for step in path:
        value = value[step]
    return value


def meets(value: float, bound: float, is_minimum: bool) -> bool:
    return value >= bound if is_minimum else value <= bound


def judged(figures: dict, targets: dict) -> dict:
    return {
        name: {
            "value": look_up(figures, path),
            "at_least" if is_minimum else "at_most": bound,
            "met": meets(look_up(figures, path), bound, is_minimum),
        }
        for name, (path, bound, is_minimum) in targets.items()
    }


def tell(found: dict, gates: dict, file: str) -> None:
    """Prints what was found, with each gate's verdict, and writes it to build/`file`."""
    text = json.dumps({**found, "gates": judged(found, gates)}, indent=2)
    (REPOSITORY / "build" / file).write_text(text + "\n")
    print(text, flush=True)


def check(figures: dict, gates: dict, gate: str) -> None:
    path, bound, is_minimum = gates[gate]
    value = look_up(figures, path)
    assert meets(value, bound, is_minimum), f"{gate} is {value:.3f}, to reach: {bound}"


def write(figures: dict) -> None:
    whole = {
        **figures,
        "gates": judged(figures, GATES),
        "goals": judged(figures, GOALS),
        "limits": LIMITS,
    }
    FILE.write_text(json.dumps(whole, indent=2) + "\n")


def table(figures: dict) -> str:
    lines = [
        "",
        f"{figures['machine']['processor']}, server on one processor, load on another; "
        f"{COMPARED_SIZE:,} ownerships; medians",
    ]
    for bodies, count in itertools.product(BODIES, CONNECTIONS):
        lines += ["", f"{bodies + f', {count} connections':<22} {_HEAD}   x nginx: rate   CPU"]
        for name, row in figures[bodies][count].items():
            ratio = (
                f"{row['rate_ratio']:>14.2f} {row['cpu_ratio']:>5.2f}" if "rate_ratio" in row else ""
            )
            lines.append(f"  {name:<20} {_cells(row)} {ratio}{_remark(row)}")
    lines += ["", f"by ownerships (16)      {_HEAD}"]
    for name in SCENARIOS:
        scaled = figures["scaled"][name]
        for size, row in scaled["sizes"].items():
            lines.append(f"  {name:<10} {size:>9,} {_cells(row)}{_remark(row)}")
        lines.append(f"  {name:<10} CPU grows by {scaled['cpu_growth']:.2f}")
    lines.append("")
    for size in SIZES:
        lines.append(
            f"  {size:>9,} ownerships: ready after {figures['ready_seconds'][size]:.2f} s, "
            f"{figures['resident_bytes'][size] / 2**20:,.0f} MiB resident"
        )
    lines.append(f"  {figures['bytes_per_ownership']:.0f} bytes of memory per ownership")
    lines.append("")
    for kind, targets in (("gate", GATES), ("goal", GOALS)):
        for name, found in judged(figures, targets).items():
            bound = "at_least" if "at_least" in found else "at_most"
            lines.append(
                f"  {kind} {name:<16} {found['value']:>8.2f}  {bound.replace('_', ' ')} "
                f"{found[bound]:<6g} {'met' if found['met'] else 'MISSED'}{_limit(name)}"
            )
    return "\n".join(lines)


def _limit(name: str) -> str:
    return f"   (limit {LIMITS[name]:g})" if name in LIMITS else ""


_HEAD = f"{'req/s':>8} {'CPU us':>7} {'p50 ms':>7} {'p99 ms':>7}"


def _cells(row: dict) -> str:
    return f"{row['rate']:>8,.0f} {row['cpu_us']:>7.1f} {row['p50_ms']:>7.2f} {row['p99_ms']:>7.2f}"


def _remark(row: dict) -> str:
    if row["disturbed"] == 0:
        return ""
    return f"   ({row['disturbed']} runs disturbed: {row['foreign']:.2f} processors)"
