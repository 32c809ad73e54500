"""What one claim costs whose resources are refused: how often Crossplane tries again, and the load."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from support.crossplane import ControlPlane
from support.webhook_registration import DECLARATIONS

DENIED = 'truce_admission_reviews_total{operation="CREATE",verdict="denied"}'
REJECTED = re.compile(
    r"^apiserver_admission_webhook_rejection_count\{"
    rf'(?=.*name="{re.escape(DECLARATIONS)}")(?=.*operation="CREATE").*\}} (\S+)$',
    re.MULTILINE,
)
PROCESSOR = re.compile(r"^process_cpu_seconds_total (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Storm:
    seconds: float  # how long it was looked at
    refused: tuple[float, ...]  # creations of the claim's resources: seconds since the first of them
    refused_updates: int  # of its composite
    # Whoever asked, in these seconds: creations denied by Truce's count and by the API server's, and
    # the processor time of the API server, in seconds.
    denied: int
    rejected: int
    api_server: float

    def refused_between(self, begin: float, end: float) -> int:
        return sum(begin <= at < end for at in self.refused)

    def __str__(self) -> str:
        return (
            f"{len(self.refused)} refused creations in {self.seconds:.0f} s"
            f" ({len(self.refused) / self.seconds:.1f} a second;"
            f" {self.refused_between(0, 1)} in the first second,"
            f" {self.refused_between(0, 10)} in the first ten),"
            f" {self.refused_updates} refused updates of the composite; all roots: {self.denied}"
            f" denied by Truce, {self.rejected} by the API server's count;"
            f" {self.api_server / self.seconds:.2f} core of the API server"
        )


@dataclass(frozen=True)
class _Counts:
    """Since the start, at a moment."""

    at: float  # seconds since 1970
    denied: float
    rejected: float
    processor: float


class StormWatch:
    """Looks at a control plane from now on, to be asked after a while. External synchronization."""

    def __init__(self, plane: ControlPlane):
        self._plane = plane
        self._begin = self._now()

    def storm_of(self, claim_object: dict, seconds: float) -> Storm:
        """What became of the claim within these seconds from the beginning; blocks until they are
        over. The claim has its composite by then. Composed objects are known by their names:
        Crossplane makes them from the composite's."""
        composite = self._plane.composite_of(claim_object)["metadata"]["name"]
        time.sleep(max(0.0, self._begin.at + seconds - time.time()))
        # Before the counts: these then have all that the log tells of.
        entries = [
            entry
            for entry in self._plane.audit.entries()
            if entry.at >= self._begin.at and entry.code in (403, 422)
        ]
        end = self._now()
        refused = sorted(
            entry.at
            for entry in entries
            if entry.verb == "create" and entry.name.startswith(f"{composite}-")
        )
        return Storm(
            seconds=end.at - self._begin.at,
            refused=tuple(at - refused[0] for at in refused),
            refused_updates=sum(
                entry.name == composite and not entry.subresource for entry in entries
            ),
            denied=int(end.denied - self._begin.denied),
            rejected=int(end.rejected - self._begin.rejected),
            api_server=end.processor - self._begin.processor,
        )

    def _now(self) -> _Counts:
        at = time.time()
        with self._plane.client() as client:
            metrics = client.request("GET", "/metrics").expect().body["text"]
        return _Counts(
            at=at,
            denied=self._plane.truce.metric(DENIED),
            rejected=sum(map(float, REJECTED.findall(metrics))),
            processor=sum(map(float, PROCESSOR.findall(metrics))),
        )
