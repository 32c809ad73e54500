"""What leaves the program: no text of anybody's moves a terminal or starts a workflow command, and what cannot be written
is told."""

import json
import os
import pty
import subprocess

import pytest
import yaml

from support import objects
from support.objects import bucket_review
from support.truce_process import BINARY
from system.test_cli import CANNOT_RUN, OK, commands_of

# A line break, ESC, a C1 control, directional marks, characters without width.
HOSTILE = "a\n::error::b\x1b[2Jc\x9bd\u202ee\u2066f\u200bg\ufe0fh\U000e0041i"
BAD = [c for c in HOSTILE if not c.isprintable() or c == "\ufe0f"]


def assert_harmless(text: str):
    found = [hex(ord(c)) for c in text if c in BAD and c != "\n"]
    assert not found, (found, text)
    assert not [line for line in text.split("\n") if line.startswith("::error::b")], text


def on_terminal(cli, *args: str) -> str:
    """What a command shows on a terminal."""
    terminal, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRUCE_")}
    with subprocess.Popen([str(BINARY), *args], stdin=subprocess.DEVNULL, stdout=end, stderr=end,
                          cwd=cli.directory, env=environment) as process:
        os.close(end)
        shown = b""
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        process.wait(60)
    os.close(terminal)
    return shown.decode().replace("\r\n", "\n")


def test_texts_of_manifests_are_escaped(cli):
    folder = HOSTILE.replace("/", "")
    (cli.directory / folder).mkdir()
    bucket = objects.bucket("one", "free-bucket")
    twice = [bucket, objects.bucket("two", "free-bucket"),
             {"apiVersion": "example.org/v1", "kind": HOSTILE, "metadata": {"name": "x"}},
             objects.bucket(HOSTILE, "third-bucket"), objects.bucket("four", HOSTILE)]
    (cli.directory / folder / "all.yaml").write_text(yaml.safe_dump_all(twice))
    for form in ("text", "github", "markdown"):
        done = cli("check", "--offline", folder, "-o", form)
        assert_harmless(done.stdout)
        assert_harmless(done.stderr)
        assert "declared twice" in done.stdout, done
        assert form == "markdown" or "\\u{1b}" in done.stdout, done
    for form in ("json", "sarif", "junit"):
        assert_harmless(on_terminal(cli, "check", "--offline", folder, "-o", form))
    for words in (["check", "--offline", HOSTILE + "none"], [HOSTILE], ["types", HOSTILE], ["config", "--config", HOSTILE],
                  ["list", "--server", HOSTILE], ["explain", HOSTILE], ["backup", "--verify", HOSTILE],
                  ["list", "--kubeconfig", HOSTILE], ["import", HOSTILE, "--source", "a"]):
        done = cli(*words)
        assert done.returncode != OK
        assert_harmless(done.stderr)


def test_texts_of_the_server_are_escaped(cli, truce):
    truce.start()
    with truce.reviewer() as reviewer:
        review = bucket_review("prod-files")
        review["request"]["userInfo"]["username"] = HOSTILE
        review["request"]["object"]["metadata"]["labels"] = {"app.kubernetes.io/name": HOSTILE}
        assert reviewer.review(review)[1]["allowed"] is True
        denied = bucket_review("other")
        denied["request"]["userInfo"]["username"] = HOSTILE
        denied["request"]["object"]["metadata"]["annotations"] = {"crossplane.io/external-name": "prod-files"}
        assert reviewer.review(denied)[1]["allowed"] is False
    data = ["--data-dir", str(truce.data)]
    for command in (["list", "-o", "wide"], ["describe", "s3/Bucket/prod-files"], ["services"], ["denials", "-o", "wide"],
                    ["audit", "-o", "wide"], ["list", "-o", "name"], ["doctor"], ["who-owns", HOSTILE]):
        done = cli(*command, *data)
        assert_harmless(done.stdout)
        assert_harmless(done.stderr)
    # Data stay as they are in a pipe, and are harmless where somebody looks.
    assert json.loads(cli("denials", "-o", "json", *data).stdout)["items"]
    for form in ("json", "yaml"):
        assert_harmless(on_terminal(cli, "denials", "-o", form, *data))
        assert_harmless(on_terminal(cli, "audit", "-o", form, *data))
    assert_harmless(truce.log.read_text())


@pytest.fixture
def printing(cli, truce):
    """Commands of all sorts that print something."""
    truce.start()
    with truce.reviewer() as reviewer:
        assert reviewer.review(bucket_review("prod-files"))[1]["allowed"] is True
    cli.file("manifest.yaml", yaml.safe_dump(objects.bucket("one", "free-bucket")))
    data = ["--data-dir", str(truce.data)]
    asking = [["list"], ["list", "-o", "json"], ["list", "-o", "yaml"], ["list", "-o", "name"], ["who-owns", "prod-files"],
              ["describe", "prod-files"], ["services"], ["audit"], ["export"], ["export", "-o", "csv"], ["doctor"],
              ["recovery"], ["quotas"], ["conflicts"], ["override"], ["backup", "-"]]
    return ([["types"], ["config"], ["config", "--keys"], ["explain", "s3/Bucket"], ["completion", "bash"], ["--version"],
             ["--help"], ["check", "--offline", "manifest.yaml"], ["check", "--offline", "manifest.yaml", "-o", "json"]]
            + [["help", command] for command in commands_of(cli)] + [[*words, *data] for words in asking])


def test_output_that_cannot_be_written_is_5(cli, printing):
    wrong = []
    for command in printing:
        whole = cli(*command) if command[:2] != ["backup", "-"] else None
        if whole is not None and not whole.stdout:
            continue  # it has nothing to say here
        with open("/dev/full", "wb") as full:
            done = subprocess.run([str(BINARY), *command], stdout=full, stderr=subprocess.PIPE, cwd=cli.directory,
                                  timeout=60, check=False)
        if done.returncode != CANNOT_RUN or b"standard output cannot be written" not in done.stderr:
            wrong.append((command, "/dev/full", done))
        closed = subprocess.run(["sh", "-c", '"$0" "$@" >&-', str(BINARY), *command], capture_output=True,
                                cwd=cli.directory, timeout=60, check=False)
        if closed.returncode != CANNOT_RUN:
            wrong.append((command, "closed", closed))
        read, write = os.pipe()
        os.close(read)
        piped = subprocess.run([str(BINARY), *command], stdout=write, stderr=subprocess.PIPE, cwd=cli.directory,
                               timeout=60, check=False)
        os.close(write)
        is_quiet = piped.stderr == b"" or command[:2] == ["backup", "-"]
        if piped.returncode != CANNOT_RUN or not is_quiet:
            wrong.append((command, "a pipe without reader", piped))
    assert not wrong
    full = cli("check", "--offline", "manifest.yaml", "-o", "json=/dev/full")
    assert full.returncode == CANNOT_RUN and "/dev/full cannot be written" in full.stderr
