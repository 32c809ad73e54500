"""Bodies of the load, made from recorded reviews as an API server writes them: without white space."""

from __future__ import annotations

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
