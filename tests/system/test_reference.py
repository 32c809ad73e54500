"""`truce reference`: the reference pages of the manual are as the program has them."""

import subprocess

import pytest
import yaml

from support.truce_process import BINARY, REPOSITORY


def test_the_pages_are_as_the_program_writes_them(tmp_path):
    """After a change: `build/release/truce reference docs/reference`, and read the difference."""
    subprocess.run([BINARY, "reference", tmp_path / "new"], check=True, timeout=60)
    written = {page.name: page.read_text() for page in (tmp_path / "new").iterdir()}
    kept = {page.name: page.read_text() for page in (REPOSITORY / "docs/reference").iterdir()}
    assert written.keys() == kept.keys()
    for name, text in written.items():
        assert text == kept[name], name


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run([BINARY, "reference", tmp_path / "file/below"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "cannot be made" in done.stderr and not done.stdout


def fields(schema: dict, path: str = "") -> dict[str, dict]:
    """Every field below a schema, by its path."""
    found = {}
    for name, field in schema.get("properties", {}).items():
        found |= {f"{path}.{name}": field} | fields(field, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            found |= fields(schema[key], path + "[]")
    return found


@pytest.mark.parametrize("file", sorted((REPOSITORY / "schema/crds").iterdir()), ids=lambda file: file.name)
def test_kubectl_explains_every_field(file):
    [version] = yaml.safe_load(file.read_text())["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    silent = [path for path, field in fields(schema).items() if not field.get("description", "").strip().endswith(".")]
    assert schema["description"].endswith(".") and not silent


def test_every_alert_has_its_metric_and_its_command():
    page = (REPOSITORY / "docs/reference/metrics.md").read_text()
    metrics, alerts = page.split("## Alerts")
    rows = [line.split(" | ") for line in alerts.splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    for name, severity, summary, command in rows:
        assert severity in ("critical", "warning", "info") and summary, name
        assert command.rstrip(" |"), name
        # The API server's own metrics are not in the list.
        assert name.removeprefix("| ") in metrics or name in ("| `TruceFailOpen`", "| `TruceCallsFail`"), name
