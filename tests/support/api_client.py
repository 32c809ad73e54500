"""The REST API as its callers use it, each answer held against the specification."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from support.openapi import Specification


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class ApiClient:
    """External synchronization. Remembers which operations answered which statuses."""

    def __init__(self, address: str, ca_file: Path, token: str = ""):
        self.address = address
        host, _, port = address.rpartition(":")
        context = ssl.create_default_context(cafile=str(ca_file))
        self._connection = http.client.HTTPSConnection(host, int(port), timeout=30, context=context)
        self.token = token
        self.specification = Specification()
        self.seen: set[tuple[str, str, int]] = set()

    def call(self, method: str, path: str, body=None, headers: dict | None = None,
             **parameters) -> Answer:
        """One request. The answer must be one that the specification describes."""
        answer = self.raw(method, path, body, headers, **parameters)
        template, _ = self.specification.operation_of(method, path)
        self.specification.check(method, path, answer.status, answer.headers, answer.body)
        self.seen.add((method, template, answer.status))
        return answer

    def raw(self, method: str, path: str, body=None, headers: dict | None = None,
            **parameters) -> Answer:
        """One request, whatever it is answered."""
        fields = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        fields |= headers or {}
        data = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        target = path + ("?" + urlencode(parameters) if parameters else "")
        self._connection.request(method, target, data, fields)
        response = self._connection.getresponse()
        answer = Answer(response.status, dict(response.getheaders()), response.read())
        if answer.headers.get("Connection", "").lower() == "close":
            self._connection.close()
        return answer

    def get(self, path: str, **parameters) -> Answer:
        return self.call("GET", path, **parameters)
