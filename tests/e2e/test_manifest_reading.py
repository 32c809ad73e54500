"""kubectl reads the corpus of manifests as recorded; tests/golden/manifests_test.cc compares Truce's
reading with the same records. TRUCE_RECORD=1 writes them anew."""

import json
import os
import subprocess

import pytest

from support.cluster import PEERS
from support.truce_process import REPOSITORY

CORPUS = REPOSITORY / "tests/golden/manifests"
FILES = sorted(p for p in CORPUS.iterdir() if not p.name.endswith(".expected"))


def kubectl_reads(path) -> list | None:
    """The documents as kubectl has them after reading, None where it refuses the file."""
    result = subprocess.run(
        [str(PEERS / "kubectl"), "annotate", "--local", "-o", "json", "-f", str(path), "added=by-test"],
        capture_output=True, timeout=60)
    if result.returncode != 0:
        assert b"error parsing" in result.stderr, result.stderr
        return None
    text, documents, decoder = result.stdout.decode(), [], json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        annotations = document["metadata"]["annotations"]
        del annotations["added"]
        if not annotations:
            del document["metadata"]["annotations"]
        documents.append(document)
        text = text[end:]
    return documents


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_kubectl_reads_it_as_recorded(path):
    reading = kubectl_reads(path)
    if path.name.startswith("refused-"):
        assert reading is None
        return
    assert reading, "the file's name says that kubectl takes it"
    record = path.with_name(path.name + ".expected")
    if os.environ.get("TRUCE_RECORD"):
        record.write_text(json.dumps(reading, indent=1, ensure_ascii=False) + "\n")
    assert json.loads(record.read_text()) == reading
