"""The documents' commands and settings, as they stand there: truce takes each of them."""

import re
import shlex
import subprocess

import pytest

from support.truce_process import BINARY, REPOSITORY

PAGES = sorted([REPOSITORY / "README.md", REPOSITORY / "HACKING.md", *(REPOSITORY / "docs").glob("*.md")])
# Behind the start of a line, a pipe, "exec … --" or the path of the build.
IN_BLOCK = re.compile(r"(?:^|\| |-- |release/)truce ([a-z-]+(?: [^\n|#>]*)?)", re.M)
REFUSED = "unknown flag|unknown command|is not one of"


def commands(text: str) -> set[str]:
    """What stands behind `truce`, in blocks and between back quotes."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    found = {command for block in blocks for command in IN_BLOCK.findall(block.replace("\\\n", " "))}
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return found | set(re.findall(r"`truce ([a-z-]+ [^`|>]*)", prose))


def test_no_page_names_a_command_or_flag_that_truce_lacks(cli):
    found = {(page.name, command) for page in PAGES for command in commands(page.read_text())}
    assert len(found) > 60
    for page, command in sorted(found):
        name, *words = shlex.split(re.sub(r'"\$\(.*?\)"|\$\w+', "x", command).replace("…", "x"))
        if name in ("serve", "page", "COMMAND"):  # these stay; their flags are in the help
            name, words = "help", [name] if name != "COMMAND" else []
            flags = set(re.findall(r"(?<= )--[a-z-]+", command)) - {"--help"}
            missing = {flag for flag in flags if flag not in cli(name, *words).stdout}
            assert not missing, (page, command, missing)
            continue
        more = ["--timeout", "1"] if name == "check" else []
        result = cli(name, *words, *more, KUBECONFIG="none")
        assert not re.search(REFUSED, result.stderr), (page, command, result.stderr)


def test_no_page_names_a_setting_that_nobody_has():
    """`name: value` in a text is a setting, a chart's value or a field of Truce's kinds."""
    tables = "".join((REPOSITORY / table).read_text() for table in (
        "docs/reference/settings.md", "docs/reference/kinds.md", "charts/truce/README.md", "charts/truce-check/README.md"))
    known = {name for path in re.findall(r"^\| `([\w.\[\]]+)` \|", tables, re.M)
             for name in re.sub(r"\[\]", "", path).split(".")}
    known |= {"wal_retrieve_retry_interval", "pass_filenames", "args", "managementPolicies"}  # of other programs
    for page in PAGES:
        prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for name in re.findall(r"`([a-zA-Z][\w.]*): [^`]+`", prose):
            assert set(name.split(".")) <= known | {"config"}, (page.name, name)


def settings() -> list[tuple[str, str]]:
    """The pages' pieces of a configuration file."""
    found = []
    for name in ("mappings", "naming", "quotas"):
        text = (REPOSITORY / f"docs/{name}.md").read_text()
        found += [(name, block) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)]
    return found


@pytest.mark.parametrize("name, block", settings())
def test_settings_of_a_page_are_taken(cli, name, block):
    result = cli("config", "--config", cli.file(f"{name}.yaml", block))
    assert result.returncode == 0, result.stderr
    assert re.match(r"\w+", block)[0] in result.stdout


def test_the_page_of_the_configuration_is_followed(tmp_path):
    text = (REPOSITORY / "docs/configuration.md").read_text()
    [block] = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/truce").symlink_to(BINARY)
    done = subprocess.run(["bash", "-euc", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "123456789012" in done.stdout
