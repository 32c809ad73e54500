"""What texts tell people to run is taken by the command line as it stands."""

import re
import shlex
from pathlib import Path

from system.test_cli import UNREACHABLE

GOLDEN = Path(__file__).parents[1] / "golden"


def commands(program: str, folder: str = "texts") -> set[str]:
    """All commands of `program` between back quotes in the texts of every rule, or the reports."""
    found = set()
    for file in (GOLDEN / folder).glob("*.txt"):
        found |= set(re.findall(rf"`({program} [^`]+)`", file.read_text()))
    return found


def test_every_printed_command_is_understood(cli):
    printed = commands("truce")
    assert {command.split()[1] for command in printed} >= {"release", "share", "protect", "describe"}
    for command in sorted(printed):
        words = shlex.split(command)
        result = cli(*words[1:], "--data-dir", "nobody")
        assert result.returncode == UNREACHABLE, (command, result.stderr)


def test_commands_in_our_own_sources_have_the_flags_that_they_name(cli):
    """Also of texts that no golden file has: hints, findings, alerts, documents."""
    root = GOLDEN.parents[1]
    found = set()
    for folder in ("policies", "registry", "webhook", "charts"):
        for file in (root / folder).rglob("*"):
            if file.suffix not in (".cc", ".md", ".yaml", ".txt"):
                continue
            text = file.read_text()
            if file.suffix == ".cc":
                text = re.sub(r'"\s*\n\s*"', "", text)
            found |= set(re.findall(r"`truce ([a-z-]+ [^`\"\n]*--?[^`\"\n]+|[a-z-]+ -[^`\"\n]+)`", text))
    assert len(found) > 10
    for command in sorted(each for each in found if not each.startswith(("serve", "export >"))):
        result = cli(*shlex.split(command.replace("…", "x")))
        assert not re.search("unknown flag|is not one of", result.stderr), (command, result.stderr)


def test_kubectl_commands_name_all_that_kubectl_needs():
    of_conflicts = {command for command in commands("kubectl", "reports") if " annotate " in command}
    printed = commands("kubectl")
    assert printed and of_conflicts
    for command in [each for line in printed | of_conflicts for each in line.split(" && ")]:
        words = shlex.split(command)
        if words[1] == "delete":
            kind, name = words[2:]
        elif words[1] == "patch":
            kind, name, *patch = words[2:]
            assert patch == ["--type", "merge", "-p", '{"spec":{"managementPolicies":["Observe"]}}'], command
        else:
            at = words.index("annotate")
            # Who said something else before says this now.
            overwrite, kind, name, annotation = words[at + 1:]
            assert overwrite == "--overwrite", command
            transfers = r"transfer-to=\w[\w.]*(/[\w.-]+){1,2}"
            assert re.fullmatch(rf"truce\.dev/({transfers}|orphan=true)", annotation), command
            assert at in (1, 3), command
        assert re.fullmatch(r"[a-z0-9]+(\.[a-z0-9-]+)+", kind), command
        assert name, command
