"""Runs a Job's container as a process with its command, environment, volumes and token: no kubelet
runs here."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.cluster import Cluster
from support.truce_process import BINARY


class JobRun:
    """External synchronization."""

    def __init__(self, cluster: Cluster, job: dict, directory: Path):
        self._cluster = cluster
        self._job = job
        self._directory = directory
        self._name = job["metadata"]["name"]
        self._namespace = job["metadata"]["namespace"]
        self.code = -1
        self.output = ""
        self.message = ""

    def run(self) -> "JobRun":
        spec = self._job["spec"]["template"]["spec"]
        container = spec["containers"][0]
        mounts = {each["mountPath"]: self._volume(each["name"]) for each in container["volumeMounts"]}

        def here(text: str) -> str:
            for path, folder in mounts.items():
                text = text.replace(path + "/", f"{folder}/")
            return text

        assert container["command"][0] == "/usr/local/bin/truce"
        termination = self._directory / "termination-log"
        termination.write_text("")
        done = subprocess.run(
            [str(BINARY), *container["command"][1:], *map(here, container["args"]),
             f"--termination-log={termination}"],
            env={"PATH": os.environ["PATH"],
                 **{each["name"]: here(each["value"]) for each in container["env"]}},
            cwd=self._directory, capture_output=True, text=True, timeout=120)
        self.code = done.returncode
        self.output = done.stdout + done.stderr
        self.message = termination.read_text()
        return self

    def _volume(self, name: str) -> Path:
        folder = self._directory / "volumes" / name
        folder.mkdir(parents=True, exist_ok=True)
        template = self._job["spec"]["template"]
        volume = next(each for each in template["spec"]["volumes"] if each["name"] == name)
        for item in volume.get("downwardAPI", {}).get("items", []):
            annotation = item["fieldRef"]["fieldPath"].split("'")[1]
            (folder / item["path"]).write_text(template["metadata"]["annotations"][annotation])
        for source in volume.get("projected", {}).get("sources", []):
            token = source["serviceAccountToken"]
            made = self._cluster.kubectl(
                "create", "token", "default", "--namespace", self._namespace,
                f"--audience={token['audience']}", f"--duration={token['expirationSeconds']}s")
            assert made.returncode == 0, made.stderr
            (folder / token["path"]).write_text(made.stdout.strip())
        return folder
