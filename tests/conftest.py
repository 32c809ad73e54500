"""Shared by every pytest suite: where the helpers are, and logs of what failed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))


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
