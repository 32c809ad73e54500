"""`make bench`: ratios to nginx, flatness, memory. The method stands in DESIGN.md."""

from __future__ import annotations

import pytest

from bench import report
from bench.campaign import Campaign


@pytest.fixture(scope="module")
def figures() -> dict:
    campaign = Campaign()
    try:
        found = report.figures_of(campaign)
    finally:
        campaign.stop()
    report.write(found)
    print(report.table(found), flush=True)
    return found


@pytest.mark.parametrize("gate", report.GATES)
def test_gate(figures: dict, gate: str) -> None:
    report.check(figures, report.GATES, gate)
