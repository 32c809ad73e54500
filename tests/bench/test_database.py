"""The store's table of `make bench`: a registry in PostgreSQL beside one in SQLite and beside pgbench. Each line by itself:
`-k WORD`."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bench import database
from bench.stores import WORK

DENIAL_TAKES_MAX = 1.5  # above SQLite's, of what the database takes alone: the goal
DENIAL_TAKES_JUDGED = 2.5
CREATED_SHARE_MIN = 0.75  # of what pgbench grants by the same two round trips
GRANT_P99_MAX_MS = 50.0  # of a creation, 16 callers, the database 1 ms away
TOGETHER_SHARE_MIN = 0.9  # of what one server grants; told, since all share the processors with the database
RESIDENT_GROWTH_MAX = 1.2  # from a thousand ownerships to a million


@pytest.fixture(scope="module")
def server():
    made = database.Database()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def tell() -> Callable[[str, dict | int, str], None]:
    found: dict = {"rounds": database.ROUNDS}

    def tell(part: str, figures: dict | int, line: str) -> None:
        found[part] = figures
        (WORK.parent / "bench-database.json").write_text(json.dumps(found, indent=2) + "\n")
        print("\n| " + line + " |", flush=True)

    return tell


@pytest.fixture(scope="module")
def beside(server, tell) -> dict:
    found = database.beside(server)
    denial = found["denied_p50_sqlite"] + DENIAL_TAKES_MAX * found["take_p50"]
    tell("beside", found,
         f"denial, 1 connection, p50 | SQLite {found['denied_p50_sqlite']:.2f} ms | "
         f"PostgreSQL {found['denied_p50_postgres']:.2f} ms | take alone {found['take_p50']:.2f} ms | to reach {denial:.2f} ms")
    tell("beside", found,
         f"creations, 16 connections | SQLite {found['created_rate_sqlite']:.0f}/s | "
         f"PostgreSQL {found['created_rate_postgres']:.0f}/s, p99 {found['created_p99_postgres']:.0f} ms | "
         f"take and put alone {found['grant_rate']:.0f}/s | {CREATED_SHARE_MIN} of that: "
         f"{found['created_rate_postgres'] / found['grant_rate']:.2f}")
    return found


def test_a_denial_costs_one_round_trip(beside):
    """The goal, DENIAL_TAKES_MAX, is told: what is judged is that it takes no second one."""
    assert beside["denied_p50_postgres"] <= beside["denied_p50_sqlite"] + DENIAL_TAKES_JUDGED * beside["take_p50"]


def test_creations_cost_little_more_than_their_two_round_trips(beside):
    assert beside["created_rate_postgres"] >= CREATED_SHARE_MIN * beside["grant_rate"]


@pytest.mark.parametrize("milliseconds", database.AWAY_MS)
def test_a_database_that_is_far_away_costs_its_round_trips(server, tell, milliseconds):
    found = database.away(server, milliseconds)
    tell(f"away {milliseconds}", found,
         f"the database {milliseconds} ms further away, 1 connection, p50: denial; creation | | "
         f"{found['denied_p50']:.1f} ms; {found['created_p50']:.1f} ms | "
         f"{found['take_p50']:.1f} ms; {found['grant_p50']:.1f} ms | told; " +
         ", ".join(f"{many} connections {found[f'created_rate_{many}']:.0f}/s, p99 {found[f'created_p99_{many}']:.0f} ms"
                   for many in database.AWAY_CONNECTIONS))
    assert found["denied_p50"] < found["grant_p50"], "one round trip, not two"
    if milliseconds == 1:
        assert found[f"created_p99_{database.CONNECTIONS}"] <= GRANT_P99_MAX_MS


def test_what_a_quota_costs_those_whom_it_counts(server, tell):
    found = database.under_a_quota(server)
    tell("quota", found,
         f"creations, 16 connections: all under one quota; with none, in turn | | {found['created_rate_quota']:.0f}/s, "
         f"p99 {found['created_p99_quota']:.0f} ms; {found['created_rate_none']:.0f}/s, "
         f"p99 {found['created_p99_none']:.0f} ms | | told: {found['created_rate_quota'] / found['created_rate_none']:.2f}")


def test_several_servers_grant_together_what_one_does(server, tell):
    found = database.together(server)
    share = found["created_rate_all"] / found["created_rate_one"]
    tell("together", found,
         f"creations, 15 connections: through one server; through {database.TOGETHER} at once, in turn | | "
         f"{found['created_rate_one']:.0f}/s; {found['created_rate_all']:.0f}/s | | {TOGETHER_SHARE_MIN} of one: {share:.2f}")


def test_memory_does_not_grow_with_the_ownerships(server, tell):
    small, large = (database.resident(server, count) for count in database.OWNERSHIPS)
    tell("resident", {"small": small, "large": large},
         f"memory of a server, {database.OWNERSHIPS[0]:,} and {database.OWNERSHIPS[1]:,} ownerships | | "
         f"{small / 2**20:.1f} and {large / 2**20:.1f} MiB | | {RESIDENT_GROWTH_MAX} times: {large / small:.2f}")
    assert large <= RESIDENT_GROWTH_MAX * small
