"""A small keep-alive JSON client for the Kubernetes API, on the standard library only."""

from __future__ import annotations

import http.client
import json
import re
import ssl
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from support.objects import collection_path, object_path

REQUEST_SECONDS = 60.0
# An API server stores objects 10,000 levels deep; whoever reads them here must not give up before it.
sys.setrecursionlimit(50_000)

MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"  # JSON is YAML.

_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Reply:
    """What the API server answered: an object, a list or a Status."""

    status: int
    body: dict
    warnings: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """The reason of a Status, e.g. "Forbidden"; empty for an object."""
        return self.body.get("reason", "") if self.body.get("kind") == "Status" else ""

    @property
    def message(self) -> str:
        return self.body.get("message", "") if self.body.get("kind") == "Status" else ""

    @property
    def uid(self) -> str:
        return self.body["metadata"]["uid"]

    @property
    def name(self) -> str:
        return self.body["metadata"]["name"]

    def expect(self, status: int = 0) -> "Reply":
        """This reply; AssertionError unless it is `status` (0: any success)."""
        good = self.ok if status == 0 else self.status == status
        if not good:
            wanted = status or "2xx"
            raise AssertionError(f"expected {wanted}, got {self.status}: {json.dumps(self.body)}")
        return self


class Client:
    """One actor's connection to one API server. External synchronization: one per thread.

    Objects are plain dicts with apiVersion, kind and metadata; the path follows from them.
    No method retries a write: what was sent once was sent once.
    """

    def __init__(self, address: str, ca_file: Path, token: str):
        context = ssl.create_default_context(cafile=str(ca_file))
        host, _, port = address.rpartition(":")
        self._connection = http.client.HTTPSConnection(
            host, int(port), timeout=REQUEST_SECONDS, context=context
        )
        self._token = token

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def connect(self) -> None:
        """Opens the connection now, so that the first request does not pay for it."""
        if self._connection.sock is None:
            self._connection.connect()

    def request(self, method: str, path: str, body=None, content_type="application/json",
                fields: dict[str, str] | None = None) -> Reply:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        headers |= fields or {}
        payload = None
        if body is not None:
            payload = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers["Content-Type"] = content_type
        try:
            self._connection.request(method, path, payload, headers)
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        warnings = [
            re.sub(r"\\(.)", r"\1", text)
            for value in response.headers.get_all("Warning") or []
            for text in _WARNING.findall(value)
        ]
        try:
            parsed = json.loads(raw) if raw else {}
        except ValueError:
            parsed = {"text": raw.decode(errors="replace")}
        return Reply(response.status, parsed, warnings)

    def get(self, obj: dict, subresource: str = "") -> Reply:
        return self.request("GET", object_path(obj, subresource))

    def list(self, api_version: str, kind: str, namespace: str = "") -> Reply:
        meta = {"namespace": namespace} if namespace else {}
        return self.request(
            "GET", collection_path({"apiVersion": api_version, "kind": kind, "metadata": meta})
        )

    def create(self, obj: dict, dry_run: bool = False) -> Reply:
        return self.request("POST", collection_path(obj) + _query(dry_run), obj)

    def update(self, obj: dict, dry_run: bool = False) -> Reply:
        """Replaces the object (PUT); with a resourceVersion in it, only that version."""
        return self.request("PUT", object_path(obj) + _query(dry_run), obj)

    def patch(self, obj: dict, patch: dict | list, dry_run: bool = False) -> Reply:
        """A merge patch (dict) or a JSON patch (list)."""
        kind = JSON_PATCH if isinstance(patch, list) else MERGE_PATCH
        return self.request("PATCH", object_path(obj) + _query(dry_run), patch, kind)

    def patch_status(self, obj: dict, status: dict) -> Reply:
        return self.request("PATCH", object_path(obj, "status"), {"status": status}, MERGE_PATCH)

    def apply(self, obj: dict, manager: str = "truce-tests", dry_run: bool = False) -> Reply:
        """Server-side apply with force, as controllers do it."""
        query = _query(dry_run, fieldManager=manager, force="true")
        return self.request("PATCH", object_path(obj) + query, obj, APPLY_PATCH)

    def delete(self, obj: dict, dry_run: bool = False) -> Reply:
        return self.request("DELETE", object_path(obj) + _query(dry_run))


def _query(dry_run: bool, **more: str) -> str:
    if dry_run:
        more["dryRun"] = "All"
    return "?" + urlencode(more) if more else ""
