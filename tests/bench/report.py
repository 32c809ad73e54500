"""From runs to figures, gates, a table for people and build/bench.json."""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import asdict

from bench import machine
from bench.campaign import ROUNDS, SIZES, Campaign, Summary
from support.truce_process import BINARY, REPOSITORY

FILE = REPOSITORY / "build" / "bench.json"
_REFERENCE = {"denied": "nginx-create", "create": "nginx-create", "unchanged": "nginx-update"}


def _of(size: int, scenario: str, figure: str) -> tuple:
    return ("beside_nginx", size, 16, scenario, figure)


# What fails a run. name: (path in the figures, bound, the bound is a minimum)
GATES = {
    "denied": (_of(SIZES[0], "denied", "rate_ratio"), 0.40, True),
    "unchanged": (_of(SIZES[0], "unchanged", "rate_ratio"), 0.50, True),
    "create": (_of(SIZES[0], "create", "rate_ratio"), 0.10, True),
    "create-p99-ms": (_of(SIZES[0], "create", "p99_ms"), 25.0, False),
    "denied-large": (_of(SIZES[1], "denied", "rate_ratio"), 0.28, True),
    "create-large": (_of(SIZES[1], "create", "rate_ratio"), 0.08, True),
    "ready-seconds": (("ready_seconds", SIZES[1]), 1.0, False),
    "memory-mib": (("resident_mib", SIZES[1]), 200.0, False),
}


def figures_of(campaign: Campaign) -> dict:
    """Runs everything."""
    beside: dict = {size: {} for size in SIZES}
    for size, connections in ROUNDS:
        beside[size][connections] = _compared(campaign.compare(size, connections))
    return {
        "machine": machine.description() | {"idle_processors_poll": campaign.processors_poll},
        "version": _version(),
        "body_bytes": campaign.body_bytes(),
        "beside_nginx": beside,
        "resident_mib": {
            size: machine.resident_bytes(truce.pid) / 2**20 for size, truce in campaign.truces.items()
        },
        "ready_seconds": {size: truce.ready_seconds for size, truce in campaign.truces.items()},
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
    FILE.write_text(json.dumps({**figures, "gates": judged(figures, GATES)}, indent=2) + "\n")


def table(figures: dict) -> str:
    lines = ["", f"{figures['machine']['processor']}, server on one processor, load on another; medians"]
    for size, connections in ROUNDS:
        title = f"{size:,}, {connections} connections"
        lines += ["", f"{title:<26} {_HEAD}   x nginx: rate   CPU"]
        for name, row in figures["beside_nginx"][size][connections].items():
            ratio = (
                f"{row['rate_ratio']:>14.2f} {row['cpu_ratio']:>5.2f}" if "rate_ratio" in row else ""
            )
            lines.append(f"  {name:<24} {_cells(row)} {ratio}{_remark(row)}")
    lines.append("")
    for size in SIZES:
        lines.append(
            f"  {size:>9,} ownerships: ready after {figures['ready_seconds'][size]:.2f} s, "
            f"{figures['resident_mib'][size]:,.0f} MiB resident after the load"
        )
    lines.append("")
    for name, found in judged(figures, GATES).items():
        bound = "at_least" if "at_least" in found else "at_most"
        lines.append(
            f"  {name:<16} {found['value']:>8.2f}  {bound.replace('_', ' ')} "
            f"{found[bound]:<6g} {'met' if found['met'] else 'MISSED'}"
        )
    return "\n".join(lines)


_HEAD = f"{'req/s':>8} {'CPU us':>7} {'p50 ms':>7} {'p99 ms':>7}"


def _cells(row: dict) -> str:
    return f"{row['rate']:>8,.0f} {row['cpu_us']:>7.1f} {row['p50_ms']:>7.2f} {row['p99_ms']:>7.2f}"


def _remark(row: dict) -> str:
    if row["disturbed"] == 0:
        return ""
    return f"   ({row['disturbed']} runs disturbed: {row['foreign']:.2f} processors)"
