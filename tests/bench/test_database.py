"""The store's table of `make bench`: a registry in PostgreSQL beside one in SQLite and beside pgbench, in one run."""

from __future__ import annotations

import json

import pytest

from bench import database
from bench.stores import WORK

DENIAL_TAKES_MAX = 1.5  # above SQLite's, of what the database takes alone; told, since a busy machine multiplies it
CREATED_SHARE_MIN = 0.75  # of what pgbench grants by the same two round trips
TOGETHER_SHARE_MIN = 0.9  # of what one server grants; told, since all share the processors with the database
RESIDENT_GROWTH_MAX = 1.2  # from a thousand ownerships to a million


@pytest.fixture(scope="module")
def figures() -> dict:
    found = database.measure()
    (WORK.parent / "bench-database.json").write_text(json.dumps(found, indent=2) + "\n")
    print("\n" + table(found), flush=True)
    return found


def table(found: dict) -> str:
    small, large = (str(count) for count in database.OWNERSHIPS)
    denial = found["denied_p50_sqlite"] + DENIAL_TAKES_MAX * found["take_p50"]
    growth = found["resident"][large] / found["resident"][small]
    together = found["created_rate_together"] / found["created_rate_postgres"]
    lines = [
        ("denial, 1 connection, p50", f"SQLite {found['denied_p50_sqlite']:.2f} ms",
         f"PostgreSQL {found['denied_p50_postgres']:.2f} ms", f"take alone {found['take_p50']:.2f} ms",
         f"{denial:.2f} ms: {_met(found['denied_p50_postgres'] <= denial)}"),
        ("creations, 16 connections", f"SQLite {found['created_rate_sqlite']:.0f}/s",
         f"PostgreSQL {found['created_rate_postgres']:.0f}/s, p99 {found['created_p99_postgres']:.0f} ms",
         f"take and put alone {found['grant_rate']:.0f}/s", f"{CREATED_SHARE_MIN} of that: judged"),
        *[(f"the database {away} ms further away, 1 connection, p50: denial; creation", "",
           f"PostgreSQL {far['denied_p50']:.1f} ms; {far['created_p50']:.1f} ms",
           f"take alone {far['take_p50']:.1f} ms; take and put alone {far['grant_p50']:.1f} ms",
           f"told; {database.CONNECTIONS} connections: {far['created_rate']:.0f}/s")
          for away, far in found["away"].items()],
        ("the same, all under one quota", "", f"PostgreSQL {found['created_rate_quota']:.0f}/s", "", "told"),
        (f"the same, through {database.TOGETHER} servers at once", "",
         f"PostgreSQL {found['created_rate_together']:.0f}/s", "",
         f"{TOGETHER_SHARE_MIN} of one: {_met(together >= TOGETHER_SHARE_MIN)}"),
        ("memory of a server", "", f"{int(small):,} ownerships {found['resident'][small] / 2**20:.0f} MiB",
         f"{int(large):,} ownerships {found['resident'][large] / 2**20:.0f} MiB",
         f"{RESIDENT_GROWTH_MAX} times: judged, {growth:.2f}"),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _met(holds: bool) -> str:
    return "met" if holds else "not met"


def test_creations_cost_little_more_than_their_two_round_trips(figures):
    assert figures["created_rate_postgres"] >= CREATED_SHARE_MIN * figures["grant_rate"]


def test_memory_does_not_grow_with_the_ownerships(figures):
    small, large = (figures["resident"][str(count)] for count in database.OWNERSHIPS)
    assert large <= RESIDENT_GROWTH_MAX * small
