"""Steps at fixed times, for loads of a given rate. Not for waiting: see processes.wait_for."""

import time


def pause_until(moment: float) -> None:
    """Returns at `moment` of time.monotonic(), at once when it is over."""
    time.sleep(max(0.0, moment - time.monotonic()))
