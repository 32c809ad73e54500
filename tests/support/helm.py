"""The real Helm, 3 and 4, on the charts of this repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from support.cluster import PEERS

CHARTS = Path(__file__).resolve().parents[2] / "charts"
SERVER_CHART = CHARTS / "truce"
NAMESPACE = "truce-system"
VERSIONS = (pytest.param(3, marks=pytest.mark.peer("helm3")), 4)


class Helm:
    """One version of Helm, with directories of its own. Thread-safe."""

    def __init__(self, version: int, home: Path, kubeconfig: Path | None = None):
        self.version = version
        self._binary = PEERS / f"helm{version}"
        self._environment = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(home),
            "HELM_CACHE_HOME": str(home / "cache"),
            "HELM_CONFIG_HOME": str(home / "config"),
            "HELM_DATA_HOME": str(home / "data"),
        }
        if kubeconfig is not None:
            self._environment["KUBECONFIG"] = str(kubeconfig)

    def run(self, *args: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Never raises for the exit code."""
        return subprocess.run(
            [self._binary, *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            env=self._environment,
        )

    def expect(self, *args: str | Path, stdin: str = "") -> str:
        """What it printed; AssertionError when it failed."""
        done = self.run(*args, stdin=stdin)
        assert done.returncode == 0, f"helm {args[0]}: {done.stderr}"
        return done.stdout

    def render(self, values: Path | dict, chart: Path = SERVER_CHART) -> str:
        """`helm template` with a values file, or with values given as they are."""
        command = ("template", "truce", chart, "--namespace", NAMESPACE, "--values")
        if isinstance(values, dict):
            return self.expect(*command, "-", stdin=json.dumps(values))
        return self.expect(*command, values)

    def objects(self, values: Path | dict, chart: Path = SERVER_CHART) -> list[dict]:
        """The rendered objects, without those of `helm test`."""
        rendered = yaml.safe_load_all(self.render(values, chart))
        return [obj for obj in rendered if obj and not is_hook(obj)]

    def refusal(self, values: dict, chart: Path = SERVER_CHART) -> str:
        """Why `helm template` refuses these values; AssertionError when it does not."""
        done = self.run(
            "template", "truce", chart, "--namespace", NAMESPACE, "--values", "-",
            stdin=json.dumps(values),
        )
        assert done.returncode != 0, f"accepted: {json.dumps(values)}"
        assert not done.stdout, "something was rendered all the same"
        return done.stderr


class OneOfEachKey(yaml.SafeLoader):
    """YAML as a strict reader has it: a key that stands twice is an error."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
        return super().construct_mapping(node, deep)


def all_of(text: str) -> list[dict]:
    """The rendered objects, those of `helm test` and hooks too."""
    return [obj for obj in yaml.load_all(text, OneOfEachKey) if obj]


def is_hook(obj: dict) -> bool:
    return "helm.sh/hook" in obj["metadata"].get("annotations", {})


def the(objects: list[dict], kind: str, name: str = "") -> dict:
    """The one object of this kind (and name)."""
    found = [
        obj for obj in objects
        if obj["kind"] == kind and name in ("", obj["metadata"]["name"])
    ]
    assert len(found) == 1, f"{len(found)} objects of kind {kind} {name}"
    return found[0]


def value_files() -> list[Path]:
    """The matrix: every file of values that the chart is rendered with."""
    files = sorted((SERVER_CHART / "ci").glob("*-values.yaml"))
    assert len(files) >= 5
    return files
