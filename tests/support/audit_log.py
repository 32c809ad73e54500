"""The audit log of a test's API server: who asked for what, when, and what it was answered."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """One request that was answered."""

    at: float  # seconds since 1970, when it arrived
    user: str
    verb: str
    group: str
    resource: str
    subresource: str
    name: str  # also of an object that was not made
    code: int
    message: str  # of an error


class AuditLog:
    """Give `flags` to the API server; `entries` may be read while it runs. Only requests that write,
    and only to kinds of these groups, are written down."""

    def __init__(self, directory: Path, groups: list[str]):
        self._log = directory / "audit.log"
        self._policy = directory / "audit-policy.json"
        rule = {
            "level": "Metadata",
            "verbs": ["create", "update", "patch", "delete"],
            "resources": [{"group": group} for group in groups],
            "omitStages": ["RequestReceived"],
        }
        self._policy.write_text(json.dumps({
            "apiVersion": "audit.k8s.io/v1",
            "kind": "Policy",
            "rules": [rule, {"level": "None"}],
        }))

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"--audit-policy-file={self._policy}", f"--audit-log-path={self._log}")

    def entries(self) -> list[Entry]:
        """In the order in which they were answered; a line that is being written is left out."""
        whole, _, _ = self._log.read_text().rpartition("\n")
        return [_entry(json.loads(line)) for line in whole.splitlines()]


def _entry(event: dict) -> Entry:
    subject, status = event.get("objectRef", {}), event.get("responseStatus", {})
    return Entry(
        at=datetime.datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp(),
        user=event["user"]["username"],
        verb=event["verb"],
        group=subject.get("apiGroup", ""),
        resource=subject.get("resource", ""),
        subresource=subject.get("subresource", ""),
        name=subject.get("name", ""),
        code=status.get("code", 0),
        message=status.get("message", ""),
    )
