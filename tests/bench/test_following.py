"""What following a cluster costs; figures are told, counts and the ratio are judged. The method
stands in DESIGN.md. Alone: `.tools/test.sh release`, then `cd tests && ../build/venv/bin/python -m
pytest bench/test_following.py -s`; TRUCE_BENCH_QUICK=1 makes it short."""

from __future__ import annotations

import json

import pytest

from bench import following
from support.truce_process import REPOSITORY

# p99 of reviews beside a relist to that without; a short run proves little.
RATIO_MAX = 20.0 if following.QUICK else 2.0
ACCOUNTS_RATIO_MAX = 20.0 if following.QUICK else 1.5


@pytest.fixture(scope="module")
def figures() -> dict:
    found = following.figures()
    (REPOSITORY / "build/bench-following.json").write_text(json.dumps(found, indent=2) + "\n")
    return found


@pytest.mark.parametrize("name", ["real", "scripted"])
def test_every_object_is_owned_when_ready(figures: dict, name: str) -> None:
    assert figures[name]["start"]["owners"] == figures[name]["objects"]


def test_every_write_was_found(figures: dict) -> None:
    lag = figures["real"]["lag"]
    assert lag["held"] == lag["writes"] == following.LAG_RATE * following.LAG_SECONDS


def test_no_review_was_unknown(figures: dict) -> None:
    assert figures["relist"]["unknown"] == 0
    assert figures["accounts"]["unknown"] == 0


def test_reviews_do_not_wait_for_an_account(figures: dict) -> None:
    assert figures["accounts"]["p99_ratio"] <= ACCOUNTS_RATIO_MAX, figures["accounts"]


def test_reviews_do_not_wait_for_a_relist(figures: dict) -> None:
    assert figures["relist"]["p99_ratio"] <= RATIO_MAX, figures["relist"]
