"""What the program says of itself: help texts of all commands, and what shells complete."""

import os
import re
import shutil
import subprocess

import pytest

from support.truce_process import BINARY
from system.test_api import TOKENS, api  # noqa: F401  (api is a fixture)
from system.test_cli import COMMAND_LINE, OK, commands_of

COLUMNS_MAX = 100
FILES, NOTHING = ":0", ":4"


def test_help_is_read_in_a_terminal(cli):
    """Lines that fit, no leftovers of a library, the connection under a heading of its own."""
    for command in commands_of(cli):
        text = cli(command, "--help").stdout
        # One word cannot be broken.
        head = [line for line in text.partition("\nExample")[0].splitlines()
                if len(line) > COLUMNS_MAX and " " in line.strip()]
        assert not head, (command, head)
        assert not re.search(r"Excludes:|Needs:| in \[|:\{|\bINT\b|\bUINT\b|TEXT:", text), command
        assert re.search(r"^Usage: truce \S+", text, re.M), command
        if "\n  --server URL" not in text:
            continue
        _, connection = text.split("\nConnection:\n")
        connection = connection.partition("\n\n")[0]
        for flag in ("--server", "--via", "--service-account", "--kubeconfig", "--token-file", "--data-dir"):
            assert re.search(rf"^  {flag} [A-Z]", connection, re.M), (command, flag)
        assert not re.search(r"^  -n|^  -o", connection, re.M), command


def test_the_list_of_commands_is_a_table(cli):
    text = cli("--help").stdout
    assert not [line for line in text.splitlines() if len(line) > COLUMNS_MAX]
    listed = [line for line in text.splitlines() if re.match(COMMAND_LINE, line)]
    assert len(listed) == len(commands_of(cli)) >= 34
    assert len({re.match(r"  \S+ +", line).end() for line in listed}) == 1, listed
    headings = re.findall(r"^(\S.*):\n  [a-z]", text, re.M)
    assert len(headings) == len(set(headings)) == 5, headings


def test_help_of_one_command(cli):
    for command in commands_of(cli):
        assert cli("help", command).stdout == cli(command, "--help").stdout, command
    for words in (["help"], ["help", "help"], ["help", "--help"], ["--help"]):
        assert cli(*words).stdout == cli("--help").stdout, words
    unknown = cli("help", "chekc")
    assert unknown.returncode == 2 and "did you mean 'check'?" in unknown.stderr


def completed(cli, *words: str, **variables: str) -> tuple[list[str], str]:
    """The candidates of the last word, and what else the shell may offer."""
    done = cli("__complete", *words, **variables)
    assert (done.returncode, done.stderr) == (OK, "")
    *lines, rest = done.stdout.splitlines()
    return [line.partition("\t")[0] for line in lines], rest


@pytest.mark.parametrize("words, wanted, rest", [
    (["who"], ["who-owns"], NOTHING),
    (["help", "who"], ["who-owns"], NOTHING),
    (["list", "--sta"], ["--state"], NOTHING),
    (["list", "--state", "or"], ["orphaned"], NOTHING),
    (["list", "--state=or"], ["orphaned"], NOTHING),
    (["list", "--state", "=", "or"], ["orphaned"], NOTHING),
    (["list", "--type", "sqs/Queue"], ["sqs/Queue", "sqs/QueuePolicy", "sqs/QueueRedriveAllowPolicy",
                                        "sqs/QueueRedrivePolicy"], NOTHING),
    (["explain", "s3/BucketAc"], ["s3/BucketAccelerateConfiguration"], NOTHING),
    (["recovery", "st"], ["status", "start"], NOTHING),
    (["completion", ""], ["bash", "zsh", "fish"], NOTHING),
    (["check", ""], [], FILES),
    (["check", "one.yaml", ""], [], FILES),
    (["describe", "s3/Bucket/one", ""], [], NOTHING),
    (["list", "--kubeconfig", ""], [], FILES),
    (["list", "--reason", ""], [], NOTHING),
    (["frobnicate", ""], [], NOTHING),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_words_are_completed(cli, words, wanted, rest):
    assert completed(cli, *words) == (wanted, rest)


def test_what_the_server_knows_is_completed(api, cli):  # noqa: F811
    where = ["--data-dir", str(api.truce.data)]
    assert completed(cli, "list", *where, "-n", "") == (["team-a"], NOTHING)
    assert completed(cli, "describe", *where, "s3/Bucket/prod-t") == (
        ["s3/Bucket/prod-three", "s3/Bucket/prod-two"], NOTHING)
    services = [each["service"] for each in api.get("/api/v1/services").json["items"]]
    assert completed(cli, "list", *where, "--service", "")[0] == sorted(services)
    token = api.truce.directory / "eve.token"
    token.write_text(TOKENS["eve"][1])
    far = ["--server", f"https://{api.address}", "--ca-file", str(api.truce.ca_file), "--token-file", str(token)]
    assert completed(cli, "list", *far, "--namespace", "team")[0] == ["team-a"]
    api.truce.stop()
    assert completed(cli, "list", *where, "-n", "") == ([], NOTHING)


def test_bash_completes(cli, tmp_path):
    (tmp_path / "truce").symlink_to(BINARY)
    script = cli("completion", "bash").stdout
    asked = script + "".join(
        f'COMP_WORDS=({words}); COMP_CWORD={words.count(" ")}; _truce; echo "${{COMPREPLY[*]}}"\n'
        for words in ("truce imp", "truce import --ret", "truce list --state or"))
    told = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, cwd=tmp_path,
                          env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert told.stdout == "import\n--retire\norphaned\n" and told.stderr == ""


def test_other_shells_read_their_scripts(cli):
    for shell in ("zsh", "fish"):
        script = cli("completion", shell).stdout
        assert " __complete " in script, shell
        if shutil.which(shell):
            assert subprocess.run([shell, "-n", "-c", script], check=False).returncode == 0, shell


def test_kubectl_asks_by_a_name_of_its_own(cli, tmp_path):
    """As kubectl runs it: the last line says what else to offer."""
    link = tmp_path / "kubectl_complete-truce"
    link.symlink_to(BINARY)
    done = subprocess.run([link, "list", "--state", "he"], capture_output=True, text=True, check=True)
    assert done.stdout == "held\n:4\n"
