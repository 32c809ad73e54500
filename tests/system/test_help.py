"""What the program says of itself: help texts of all commands, and what shells complete."""

import os
import re
import shutil
import subprocess

import pytest

from support.truce_process import BINARY
from system.test_cli import COMMAND_LINE, commands_of

COLUMNS_MAX = 100


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


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """What bash offers for the last of some words, by the script; nothing: files, as bash does."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "truce").symlink_to(BINARY)
    script = subprocess.run([BINARY, "completion", "bash"], capture_output=True, text=True, check=True).stdout

    def run(*words: str) -> list[str]:
        asked = f'{script}COMP_WORDS=(truce "$@"); COMP_CWORD=$#; _truce; printf "%s\n" "${{COMPREPLY[@]}}"'
        told = subprocess.run(["bash", "-c", asked, "bash", *words], capture_output=True, text=True, check=True,
                              env={"PATH": f"{folder}:{os.environ['PATH']}"})
        assert told.stderr == ""
        return told.stdout.split()

    return run


@pytest.mark.parametrize("words, wanted", [
    (["who"], ["who-owns"]),
    (["imp"], ["import"]),
    (["help", "who"], ["who-owns"]),
    (["list", "--sta"], ["--state"]),
    (["import", "--ret"], ["--retire"]),
    (["list", "--state", "or"], ["orphaned"]),
    (["list", "--state", "=", "or"], ["orphaned"]),
    (["list", "--state", "="], ["reserved", "held", "orphaned", "imported"]),
    (["list", "--type", "sqs/Queue"], ["sqs/Queue", "sqs/QueuePolicy", "sqs/QueueRedriveAllowPolicy",
                                        "sqs/QueueRedrivePolicy"]),
    (["explain", "s3/BucketAc"], ["s3/BucketAccelerateConfiguration"]),
    (["recovery", "st"], ["status", "start"]),
    (["completion", ""], ["bash", "zsh", "fish", "kubectl"]),
    (["serve", "--log-format", ""], ["text", "json"]),
    (["check", ""], []),
    (["check", "one.yaml", ""], []),
    (["describe", "s3/Bucket/one", ""], []),
    (["list", "--kubeconfig", ""], []),
    (["frobnicate", ""], []),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_words_are_completed(complete, words, wanted):
    assert complete(*words) == wanted


def test_shells_read_their_scripts(cli):
    for shell in ("bash", "zsh", "fish"):
        script = cli("completion", shell).stdout
        for command in commands_of(cli):
            assert re.search(rf"\b{command}\b", script), (shell, command)
        for flag in ("retire", "on-unreachable", "log-format"):
            assert flag in script, (shell, flag)
        if shutil.which(shell):
            assert subprocess.run([shell, "-n", "-c", script], check=False).returncode == 0, shell


def test_kubectl_asks_by_a_name_of_its_own(cli, tmp_path):
    """As kubectl runs it: the last line says what else to offer."""
    program = tmp_path / "kubectl_complete-truce"
    program.write_text(cli("completion", "kubectl").stdout)
    program.chmod(0o755)
    done = subprocess.run([program, "list", "--state", "he"], capture_output=True, text=True, check=True)
    assert done.stdout == "held\n:4\n"
    assert subprocess.run([program, "check", ""], capture_output=True, text=True, check=True).stdout == ":0\n"
