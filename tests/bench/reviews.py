"""Bodies of the load, made from recorded reviews as an API server writes them: without white space."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from bench.stores import Sample

RECORDED = Path(__file__).resolve().parents[1] / "golden" / "admission"
CREATE_BYTES_MIN = 4096  # A bucket with some more fields than the recorded one has.


def recorded(name: str) -> dict:
    return json.loads((RECORDED / f"{name}.json").read_text())


def _compact(review: dict) -> str:
    return json.dumps(review, separators=(",", ":"))


def _create_template() -> str:
    """Argo CD creates a bucket. Its name, uid and the review's uid are marked."""
    review = recorded("kubectl-apply-csa-create-1.create.bucket")
    request = review["request"]
    tags = request["object"]["spec"]["forProvider"]["tags"]
    while len(_compact(review)) < CREATE_BYTES_MIN:
        tags[f"example.org/cost-allocation-{len(tags):02}"] = "platform-engineering"
    text = _compact(review).replace(request["name"], "@NAME@")
    return text.replace(request["object"]["metadata"]["uid"], "@OBJECT@").replace(
        request["uid"], "@REVIEW@"
    )


def fresh_creates() -> str:
    """The template of load.lua's mode `fresh`."""
    return _create_template()


def creates_of_taken(samples: list[Sample]) -> list[str]:
    """Declarations, by other objects, of the buckets that `samples` own."""
    template = _create_template()
    return [
        template.replace("@NAME@", sample.bucket)
        .replace("@OBJECT@", _uid_like(sample.uid, "a"))
        .replace("@REVIEW@", _uid_like(sample.uid, "b"))
        for sample in samples
    ]


def _uid_like(uid: str, digit: str) -> str:
    """Another uid of the same form."""
    return digit + uid[1:]


class Composed:
    """Buckets composed by Crossplane: their creation, and the update that follows each look of the
    composite controller, which changes nothing."""

    def __init__(self, count: int):
        self._update = recorded("crossplane-claims-14.update.bucket")
        self._count = count
        request = self._update["request"]
        assert request["object"] == request["oldObject"]
        self._object = request["object"]["metadata"]["name"]
        self._uid = request["object"]["metadata"]["uid"]
        self._composite_uid = request["object"]["metadata"]["ownerReferences"][0]["uid"]
        self._composite = request["object"]["metadata"]["ownerReferences"][0]["name"]

    def creates(self) -> list[str]:
        review = copy.deepcopy(self._update)
        request = review["request"]
        request["operation"] = "CREATE"
        request["oldObject"] = None
        request["options"] = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
        return [self._numbered(_compact(review), number, "c") for number in range(self._count)]

    def updates(self) -> list[str]:
        text = _compact(self._update)
        return [self._numbered(text, number, "d") for number in range(self._count)]

    def _numbered(self, text: str, number: int, review: str) -> str:
        # Names that spread over the whole registry, as people's names do.
        scattered = f"{number * 2654435761 % 2**32:08x}"
        uid = f"{scattered}-0c0d-4000-9000-{number:012x}"
        composite = f"composite-{scattered}"
        for old, new in (
            (self._object, f"{composite}-bucket"),
            (self._uid, uid),
            (self._composite, composite),
            (self._composite_uid, _uid_like(uid, "e")),
            ("prod-artifacts", f"service-{number % 997}-prod-bucket-{scattered}"),
            (self._update["request"]["uid"], _uid_like(uid, review)),
        ):
            text = text.replace(old, new)
        return text
