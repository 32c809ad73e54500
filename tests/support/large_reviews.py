"""Reviews of many shapes that are as large as an API server sends them: `python -m
support.large_reviews ADDRESS CA_FILE PARALLEL ROUNDS BYTES [SHAPE]` sends PARALLEL at once, ROUNDS
times, of all shapes or of that one, and prints what was answered as one line of JSON. It leaves the
processors to everybody else: it stands for machines of its own."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
import threading
from collections import Counter

# What each shape fills a review with, given the bytes it has: text inside `spec`.
SHAPES = {
    "one-text": lambda size: '"' + "x" * size + '"',
    "escapes": lambda size: '"' + "\\u00e9\\n" * (size // 8) + '"',
    "numbers": lambda size: "[" + "7," * (size // 2) + "7]",
    "long-numbers": lambda size: "[" + "1234567890123," * (size // 14) + "7]",
    "fractions": lambda size: "[" + "1.5," * (size // 4) + "7]",
    "members": lambda size: "{" + ",".join(f'"k{i}":{i}' for i in range(size // 16)) + "}",
    "empty-objects": lambda size: "[" + "{}," * (size // 3) + "{}]",
    "empty-arrays": lambda size: "[" + "[]," * (size // 3) + "[]]",
    "texts": lambda size: "[" + '"",' * (size // 3) + '""]',
    "deepest": lambda size: '{"a":' * (size // 6) + "7" + "}" * (size // 6),
    "deep": lambda size: "[" + ("[" * 50 + "]" * 50 + ",") * (size // 101) + "7]",
}


def review_body(shape: str, size: int, number: int) -> bytes:
    """A create of a Bucket of about `size` bytes."""
    name = f"large-{shape}-{number}"
    obj = {"apiVersion": "s3.aws.upbound.io/v1beta1", "kind": "Bucket",
           "metadata": {"name": name, "uid": name,
                        "annotations": {"crossplane.io/external-name": name}},
           "spec": {"forProvider": {"region": "eu-west-1"}, "filling": 0}}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": name, "operation": "CREATE", "name": name,
        "kind": {"group": "s3.aws.upbound.io", "version": "v1beta1", "kind": "Bucket"},
        "resource": {"group": "s3.aws.upbound.io", "version": "v1beta1", "resource": "buckets"},
        "userInfo": {"username": "alice"}, "object": obj, "oldObject": None, "dryRun": False}}
    text = json.dumps(review)
    return text.replace('"filling": 0', '"filling": ' + SHAPES[shape](size - len(text)), 1).encode()


def small_review(number: int) -> dict:
    """A dry run of a create."""
    review = json.loads(review_body("one-text", 600, number))
    review["request"]["dryRun"] = True
    return review


class Senders:
    """PARALLEL threads, each with a connection of its own, that send all at once."""

    def __init__(self, address: str, ca_file: str, parallel: int, size: int, shape: str = ""):
        host, _, self._port = address.rpartition(":")
        self._host = host
        self._context = ssl.create_default_context(cafile=ca_file)
        shapes = [shape] if shape else list(SHAPES)
        self._bodies = [review_body(shapes[i % len(shapes)], size, i) for i in range(parallel)]
        self._lock = threading.Lock()
        self.statuses: Counter[str] = Counter()

    def run(self, rounds: int) -> None:
        for _ in range(rounds):
            threads = [threading.Thread(target=self._send, args=(body,)) for body in self._bodies]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _send(self, body: bytes) -> None:
        connection = http.client.HTTPSConnection(
            self._host, int(self._port), timeout=60, context=self._context)
        try:
            connection.request("POST", "/validate?timeout=30s", body,
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            status = str(response.status)
        except OSError as error:
            status = type(error).__name__
        finally:
            connection.close()
        with self._lock:
            self.statuses[status] += 1


def main() -> None:
    address, ca_file, parallel, rounds, size, *shape = sys.argv[1:]
    os.nice(19)
    senders = Senders(address, ca_file, int(parallel), int(size), "".join(shape))
    senders.run(int(rounds))
    print(json.dumps(senders.statuses))


if __name__ == "__main__":
    main()
