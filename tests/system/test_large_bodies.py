"""Bodies as large as they come: they take turns, and little memory; who sends small ones is answered
as before. The figures under full load are those of bench/test_floods.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.large_reviews import small_review
from support.processes import Beside

MEBIBYTE = 1024 * 1024
PEAK_MAX = 256 * MEBIBYTE


# All shapes, and those of most values a byte.
@pytest.mark.parametrize("shape", ["", "numbers", "texts"], ids=["all", "numbers", "texts"])
def test_large_bodies_at_once_take_little_memory_and_few_threads(truce, shape):
    truce.start()
    with truce.reviewer() as kept, Beside(
            "support.large_reviews", truce.admission_address, truce.ca_file, 20, 3,
            2_900_000, shape) as flood:
        numbers = threads = 0
        while flood.running:
            numbers += 1
            assert kept.review(small_review(numbers))[0] == 200
            threads = max(threads, truce.metric('truce_http_threads{listener="admission"}'))
        statuses = json.loads(flood.result())
    print(statuses, numbers, "reviews beside them,", threads, "threads")
    assert statuses == {"200": 60}, "how many values a body has refuses nothing"
    peak = peak_bytes(truce.pid)
    print("peak", peak // MEBIBYTE, "MiB")
    assert peak <= PEAK_MAX
    assert threads <= 12, "long parsing is not mistaken for waiting"


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines()
                if line.startswith("VmHWM:"))
