"""Bodies as a real cluster sends them: of several kinds, 1 to 30 KB long, another object in each request.

Each is a line for mode `fresh` of load.lua, which replaces the marks: @OBJECTNAME@ by a fresh name of an object,
@OBJECT@ and @REVIEW@ by fresh uids, @NAME@ (creations that are granted) by a fresh name of a resource.
"""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator

from bench.reviews import recorded

COUNT = 1000
# Most objects are small; status, managedFields and what kubectl remembers make some large.
SIZES = (1_500, 2_000, 3_000, 4_000, 4_000, 6_000, 8_000, 12_000, 20_000, 30_000)
# The share of what is added that goes into each place: no rule reads managedFields, and JSON inside a string
# is full of escapes.
_FIELDS, _REMEMBERED = 0.4, 0.3

_KINDS = {
    "bucket": "kubectl-apply-csa-create-1.create.bucket",
    "queue": "queue-1.create.queue",
    "table": "table-1.create.table",
}


def _compact(review: dict) -> str:
    return json.dumps(review, separators=(",", ":"))


def _named(kind: str, name: str) -> dict:
    """The creation of a resource called `name` by an object without one."""
    review = copy.deepcopy(recorded(_KINDS[kind]))
    request = review["request"]
    metadata = request["object"]["metadata"]
    request["uid"], metadata["uid"] = "@REVIEW@", "@OBJECT@"
    request["name"] = metadata["name"] = "@OBJECTNAME@"
    annotations = metadata.setdefault("annotations", {})
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if kind == "queue":
        request["object"]["spec"]["forProvider"]["name"] = name
    else:
        annotations["crossplane.io/external-name"] = name
    return review


def _grow(thing: dict, size: int) -> None:
    """Adds members until the object has about `size` bytes as JSON."""
    missing = size - len(_compact(thing))
    if missing <= 0:
        return
    metadata = thing["metadata"]
    fields = {f"f:example-field-{n:03}": {} for n in range(int(missing * _FIELDS / 26))}
    metadata["managedFields"][0]["fieldsV1"]["f:status"] = fields
    remembered = {f"key-{n:03}": "value" for n in range(int(missing * _REMEMBERED / 22))}
    if remembered:
        text = _compact(remembered)
        metadata["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = text
    missing = size - len(_compact(thing))
    tags = thing["spec"]["forProvider"].setdefault("tags", {})
    for n in range(max(missing, 0) // 60):
        tags[f"example.org/cost-allocation-{n:03}"] = "platform-engineering"


def _in_order(value):
    """As the API server writes objects: members by name."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_in_order(element) for element in value]
    return value


def _finished(review: dict, size: int) -> str:
    thing = review["request"]["object"]
    _grow(thing, size - (len(_compact(review)) - len(_compact(thing))))
    review["request"]["object"] = _in_order(thing)
    return _compact(review)


def _kinds_and_sizes() -> Iterator[tuple[int, str, int]]:
    # 3 and 10 have no common divisor: each kind has each size.
    return zip(range(COUNT), itertools.cycle(_KINDS), itertools.cycle(SIZES))


def _scattered(number: int) -> str:
    """All over the indexes of a registry, as people's names and the API server's uids are."""
    return f"{number * 2654435761 % 2**32:08x}"


def _taken(number: int) -> str:
    return f"service-{100 + number * 7 % 900}-prod-bucket-{_scattered(number)}"


def owners() -> list[str]:
    """Creations, by owners that stay, of what `denied` asks for."""
    found = []
    for number, kind, _ in _kinds_and_sizes():
        text = _compact(_named(kind, _taken(number)))
        for mark, value in (
            ("@OBJECTNAME@", f"owner-{number:04}"),
            ("@OBJECT@", f"{_scattered(number)}-0000-4000-9000-{number:012x}"),
            ("@REVIEW@", f"{_scattered(number)}-0000-4000-9001-{number:012x}"),
        ):
            text = text.replace(mark, value)
        found.append(text)
    return found


def denied() -> list[str]:
    return [_finished(_named(kind, _taken(n)), size) for n, kind, size in _kinds_and_sizes()]


def creates() -> list[str]:
    return [_finished(_named(kind, "@NAME@"), size) for _, kind, size in _kinds_and_sizes()]


def unchanged() -> list[str]:
    """Updates of objects that stay as they are."""
    found = []
    for number, kind, size in _kinds_and_sizes():
        review = _named(kind, _taken(number))
        request = review["request"]
        request["object"]["metadata"]["resourceVersion"] = "803"
        request["operation"] = "UPDATE"
        request["options"] = {"kind": "UpdateOptions", "apiVersion": "meta.k8s.io/v1"}
        _grow(request["object"], size // 2)
        request["object"] = request["oldObject"] = _in_order(request["object"])
        found.append(_compact(review))
    return found
