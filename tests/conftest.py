"""Shared by every pytest suite: where the helpers are, and logs of what failed."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.peers import of_this_run  # noqa: E402

ROTATING_SHARES = 4


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "rotating: slow; where ROTATE is set, one share of these tests runs, or all of them")
    config.addinivalue_line(
        "markers", "peer(name): needs a peer that is built in one share of four only")


def pytest_collection_modifyitems(config, items):
    """Leaves the share of the rotating tests that ROTATE names, and what needs a peer of this share;
    .tools/test.sh takes it from HEAD's tree."""
    share = os.environ.get("ROTATE", "all")
    if share == "all":
        return
    rotating = [item for item in items if item.get_closest_marker("rotating")]
    left_out = [item for at, item in enumerate(rotating) if at % ROTATING_SHARES != int(share)]
    peers = of_this_run()
    left_out += [item for item in items if item not in left_out
                 and any(mark.args[0] not in peers for mark in item.iter_markers("peer"))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Adds the logs of everything that a failed test used (anything with a `logs()`)."""
    outcome = yield
    report = outcome.get_result()
    if not report.failed:
        return
    for name, value in getattr(item, "funcargs", {}).items():
        if callable(getattr(value, "logs", None)):
            report.sections.append((f"logs of {name}", value.logs()))
