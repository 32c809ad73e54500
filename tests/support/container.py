"""An image run by crun as the chart's Pod would be: its user, mounts, read-only root, no capabilities, a
list of system calls. No kubelet and no container engine; the network is this machine's."""

from __future__ import annotations

import io
import json
import shlex
import tarfile
from pathlib import Path

from support.pod import Pod
from support.processes import Child

NO_CAPABILITIES = {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}
# crun refuses machines that have both kinds of control groups. The new kind alone is enough, as none is made.
ONE_KIND_OF_CGROUPS = """
if [ "$(stat -fc %T /sys/fs/cgroup)" = tmpfs ]; then
  umount -R /sys/fs/cgroup
  mount -t cgroup2 none /sys/fs/cgroup
fi
"""


class ImageLayout:
    """An OCI image layout in a tar archive; what it says of itself is checked while it is read."""

    def __init__(self, archive: Path):
        self._files = {}
        with tarfile.open(archive) as tar:
            for entry in tar:
                if entry.isfile():
                    self._files[entry.name] = tar.extractfile(entry).read()
        self.index = json.loads(self._files["index.json"])
        self.manifest = json.loads(self.blob(self.index["manifests"][0]))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def blob(self, descriptor: dict) -> bytes:
        data = self._files["blobs/sha256/" + descriptor["digest"].removeprefix("sha256:")]
        assert len(data) == descriptor["size"]
        return data

    def blobs(self) -> dict[str, bytes]:
        """Content by SHA-256, as their names say."""
        prefix = "blobs/sha256/"
        return {name.removeprefix(prefix): data for name, data in self._files.items() if name.startswith(prefix)}

    def unpack(self, folder: Path) -> None:
        for layer in self.manifest["layers"]:
            with tarfile.open(fileobj=io.BytesIO(self.blob(layer)), mode="r:gz") as tar:
                tar.extractall(folder, numeric_owner=True)


def system_calls(profile: dict, architecture: str = "amd64") -> dict:
    """A list as container engines have it (docker's form), as a runtime takes it: for a container without
    capabilities on this architecture."""
    rules = []
    for rule in profile["syscalls"]:
        only, never = rule.get("includes") or {}, rule.get("excludes") or {}
        if only.get("caps") or architecture not in (only.get("arches") or [architecture]):
            continue
        if architecture in (never.get("arches") or []):
            continue
        kept = {"names": rule["names"], "action": rule["action"]}
        if rule.get("args"):
            kept["args"] = rule["args"]
        if "errnoRet" in rule:
            kept["errnoRet"] = rule["errnoRet"]
        rules.append(kept)
    return {"defaultAction": profile["defaultAction"], "architectures": ["SCMP_ARCH_X86_64"], "syscalls": rules}


class Container(Pod):
    """As Pod; `seccomp` is what a runtime takes."""

    def __init__(self, directory: Path, image: ImageLayout, seccomp: dict | None = None):
        super().__init__(directory, Path("/nonexistent"))
        self._image = image
        self.seccomp = seccomp

    def start(self) -> Child:
        bundle = self.directory
        if not (bundle / "rootfs").exists():
            self._image.unpack(bundle / "rootfs")
        (bundle / "config.json").write_text(json.dumps(self._runtime_spec()))
        run = shlex.join(["crun", "--root", str(bundle / "state"), "--cgroup-manager=disabled", "run",
                          "--bundle", str(bundle), "truce"])
        # What runs in the namespace of processes ends with it.
        self._child = Child("container", [
            "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-euc",
            f"{ONE_KIND_OF_CGROUPS}exec {run}"], self.log)
        return self._child

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.exit_code

    def status(self) -> dict[str, str]:
        """/proc/PID/status of the program itself, the innermost of what was started."""
        pid = self._child.pid
        while inner := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(inner[0])
        return self.status_of(pid)

    def _runtime_spec(self) -> dict:
        container, user = self._spec["containers"][0], self._spec["securityContext"]
        linux = {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount")],
                 "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list"],
                 "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]}
        if self.seccomp is not None:
            linux["seccomp"] = self.seccomp
        said = self._image.config["config"]
        return {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": user["runAsUser"], "gid": user["runAsGroup"], "additionalGids": [user["fsGroup"]]},
                "args": [*said["Entrypoint"], *container["args"]],
                "env": [*said["Env"], *(f"{each['name']}={each['value']}" for each in container.get("env", []))],
                "cwd": said["WorkingDir"],
                "capabilities": NO_CAPABILITIES,
                "noNewPrivileges": not container["securityContext"]["allowPrivilegeEscalation"],
            },
            "root": {"path": "rootfs", "readonly": container["securityContext"]["readOnlyRootFilesystem"]},
            "hostname": "truce",
            "mounts": [
                {"destination": "/proc", "type": "proc", "source": "proc", "options": ["nosuid", "noexec", "nodev"]},
                {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=64k"]},
                *({"destination": mount["mountPath"], "type": "bind", "source": str(self.volume(mount["name"])),
                   "options": ["rbind", "ro" if mount.get("readOnly") else "rw", "nosuid", "nodev"]}
                  for mount in container["volumeMounts"])],
            "linux": linux,
        }
