"""What the REST API costs. Alone: `cd tests && ../build/venv/bin/python -m pytest
bench/test_api_load.py -s`; TRUCE_BENCH_QUICK=1 makes it short. The method stands in DESIGN.md."""

from __future__ import annotations

import pytest

from bench import api_load, report

# As in report.py: name: (path in the figures, bound, the bound is a minimum). A short run tells
# little of a p99.
GATES = {
    "lookup-by-name": (("lookup", "name", "rate_ratio"), 0.4, True),
    "lookup-by-arn": (("lookup", "arn", "rate_ratio"), 0.4, True),
    "page-of-100-p50-ms": (("page", "p50_ms"), 2.0, False),
    "reviews-beside-1000-a-second": (("paced", "p99_ratio"), 20.0 if api_load.QUICK else 1.5, False),
    "unknown-reviews": (("paced", "unknown"), 0, False),
    "failed-calls": (("paced", "api_failed"), 0, False),
    "unknown-reviews-in-a-flood": (("flood", "unknown"), 0, False),
}


@pytest.fixture(scope="module")
def figures() -> dict:
    found = api_load.figures()
    report.tell(found, GATES, "bench-api.json")
    return found


@pytest.mark.parametrize("gate", GATES)
def test_gate(figures: dict, gate: str) -> None:
    report.check(figures, GATES, gate)
