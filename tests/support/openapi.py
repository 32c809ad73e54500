"""schema/openapi.yaml as a judge: does an answer of the API conform to it?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema_rs
import yaml

SPECIFICATION = Path(__file__).resolve().parents[2] / "schema" / "openapi.yaml"


class Specification:
    """The operations of the API and what each may answer."""

    def __init__(self, text: str | None = None):
        self.document = yaml.safe_load(text if text is not None else SPECIFICATION.read_text())

    def operations(self) -> list[tuple[str, str]]:
        """(method, path with placeholders) of every operation."""
        return [
            (method.upper(), path)
            for path, item in self.document["paths"].items()
            for method in item
        ]

    def operation_of(self, method: str, path: str) -> tuple[str, dict]:
        """(path with placeholders, operation) that a request reaches. KeyError: none."""
        for template, item in self.document["paths"].items():
            pattern = re.sub(r"\\\{[a-z]+\\\}", "[^/:]+", re.escape(template))
            if re.fullmatch(pattern, path) and method.lower() in item:
                return template, item[method.lower()]
        raise KeyError(f"{method} {path} is not described")

    def check(self, method: str, path: str, status: int, headers: dict, body: bytes) -> None:
        """AssertionError when the answer is not one that the specification describes."""
        _, operation = self.operation_of(method, path)
        response = operation["responses"].get(str(status)) or operation["responses"].get("default")
        assert response is not None, f"{method} {path}: {status} is not described"
        response = self._resolve(response)
        assert "X-Request-Id" in headers or status == 304, "no request id"
        if "content" not in response:
            assert not body
            return
        media_type = headers["Content-Type"].split(";")[0]
        assert media_type in response["content"], f"{method} {path}: {media_type} is not described"
        if not media_type.endswith(("/json", "+json")):
            return
        schema = response["content"][media_type]["schema"]
        self.check_value(schema, json.loads(body))

    def check_value(self, schema: dict, value) -> None:
        whole = {**schema, "components": self.document["components"]}
        jsonschema_rs.Draft202012Validator(whole, validate_formats=True).validate(value)

    def examples(self) -> list[tuple[str, dict, object]]:
        """(operation id, schema, value) of every example of a body."""
        found = []
        for item in self.document["paths"].values():
            for operation in item.values():
                content = operation.get("requestBody", {}).get("content", {})
                for media in content.values():
                    for example in media.get("examples", {}).values():
                        found.append((operation["operationId"], media["schema"], example["value"]))
        return found

    def _resolve(self, node: dict) -> dict:
        while "$ref" in node:
            target = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node
