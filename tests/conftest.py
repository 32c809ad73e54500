"""Shared by every pytest suite: where the helpers are, and logs of what failed."""

import itertools
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.peers import ROTATING, of_this_run  # noqa: E402
from support.postgres import Postgres  # noqa: E402

ROTATING_SHARES = 4
DATABASES = itertools.count(1)
USUAL_SECONDS = 0.6  # of a test that says nothing of its time


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "rotating(seconds): slow; where ROTATE is set, one share of these tests runs, or all of them")
    config.addinivalue_line("markers", "slow(seconds): takes so long, and runs at each commit")
    config.addinivalue_line(
        "markers", "peer(name): needs a peer that is built in one share of four only")


def seconds_of(item) -> float:
    """How long it takes, by its marks; roughly."""
    for mark in item.iter_markers():
        if mark.name in ("rotating", "slow") and mark.args:
            return float(mark.args[0])
    return USUAL_SECONDS


def peers_of(item) -> set[str]:
    return {mark.args[0] for mark in item.iter_markers("peer")}


def shares_of(items) -> dict:
    """Of each rotating test that needs no peer its share. What takes longest is given away first, to the share
    that has least; the tests of a share's peers are there already."""
    load = [sum(seconds_of(item) for item in items if peers_of(item) & set(peers)) for peers in ROTATING]
    shares = {}
    rotating = [item for item in items if item.get_closest_marker("rotating") and not peers_of(item)]
    for item in sorted(rotating, key=seconds_of, reverse=True):
        shares[item] = min(range(ROTATING_SHARES), key=lambda share: load[share])
        load[shares[item]] += seconds_of(item)
    return shares


def pytest_collection_modifyitems(config, items):
    """Leaves the share of the rotating tests that ROTATE names, and what needs a peer of this share;
    .tools/test.sh takes it from HEAD's tree. The files that take longest come first."""
    share = os.environ.get("ROTATE", "all")
    if share != "all":
        shares, peers = shares_of(items), set(of_this_run())
        left_out = [item for item in items if shares.get(item, int(share)) != int(share) or peers_of(item) - peers]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    seconds = {}
    for item in items:
        seconds[item.path] = seconds.get(item.path, 0) + seconds_of(item)
    items.sort(key=lambda item: -seconds[item.path])


@pytest.fixture(scope="session")
def postgres():
    """A server for all tests of a process, each of which has a database of its own."""
    server = Postgres()
    yield server
    server.remove()


@pytest.fixture
def database(postgres, request):
    """The name of a fresh one."""
    if not postgres.running:  # a test failed while it was stopped
        postgres.start()
    name = f"{request.node.originalname[5:50]}_{next(DATABASES)}"
    postgres.make_database(name)
    return name


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the logs of everything that a failed test used (anything with a `logs()`)."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    for name, value in getattr(item, "funcargs", {}).items():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if callable(getattr(each, "logs", None)):
                report.sections.append((f"logs of {name}", each.logs()))
