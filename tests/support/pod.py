"""A Pod without a kubelet: the container of a Deployment as a process, with its own arguments,
variables, volumes, user and read-only root file system.

Volumes are made from the objects that the API server holds, as a kubelet makes them: ConfigMaps and
Secrets as files behind a link that is swapped whole, everything owned by the Pod's fsGroup.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.processes import Child, tail

# What the image's entry point runs (release/image.py), and where the image has it.
ENTRY_POINT = ["/usr/local/bin/truce", "serve"]
FILE_MODE = 0o644  # Kubernetes' default for ConfigMaps and Secrets
ACCOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True)
class Account:
    """What a Pod gets to speak to its API server."""

    token: str
    authority: str  # PEM
    host: str
    port: int
    kubeconfig: Path  # the same account; where ACCOUNT_PATH cannot be mounted


class Pod:
    """External synchronization; start it from the main thread.

    Where this user may make no mount namespace (a container without rights), `isolated` is false:
    the same program then runs with the same files, found at other paths, and only the file system
    is not the Pod's.
    """

    def __init__(self, directory: Path, binary: Path):
        self.directory = directory
        self.log = directory / "pod.log"
        self._binary = binary
        self._child: Child | None = None
        self._is_root = os.geteuid() == 0
        self._outside = ["unshare", "--mount"] if self._is_root else [
            "unshare", "--map-root-user", "--mount"]
        self.isolated = subprocess.run([*self._outside, "true"], capture_output=True).returncode == 0
        directory.mkdir(parents=True, exist_ok=True)
        # pytest keeps its directories to their owner; the container's user must pass.
        for folder in (directory, *directory.parents):
            if self._is_root and folder.stat().st_uid == 0 and "pytest" in str(folder):
                folder.chmod(folder.stat().st_mode | 0o011)

    def mount(self, template: dict, read, account: Account | None = None) -> None:
        """Makes the volumes of a Pod template; again: what is mounted follows its objects.
        `read(kind, name)` gives an object of the Pod's namespace; `account` is needed by a template
        that asks for a token."""
        self._spec = template["spec"]
        self._account = account if template["spec"]["automountServiceAccountToken"] else None
        if self._account is not None:
            folder = self.volume("account")
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in (("token", account.token), ("ca.crt", account.authority)):
                (folder / name).write_text(content)
        group = self._spec["securityContext"]["fsGroup"]
        for volume in self._spec["volumes"]:
            target = self.volume(volume["name"])
            target.mkdir(parents=True, exist_ok=True)
            if "configMap" in volume or "secret" in volume:
                self._project(volume, target, read, group)
            else:
                self._own(target, 0o2775, group)

    def take_image(self, binary: Path) -> None:
        """From the next start on, the program of another image."""
        self._binary = binary

    def start(self) -> Child:
        container = self._spec["containers"][0]
        user = self._spec["securityContext"]
        # A changed user clears the signal that ends the child with its parent: setpriv sets it anew.
        become = ["setpriv", "--pdeathsig", "KILL", "--no-new-privs", "--ambient-caps=-all",
                  "--inh-caps=-all"]
        if self._is_root:
            become += ["--bounding-set=-all", f"--reuid={user['runAsUser']}",
                       f"--regid={user['runAsGroup']}", f"--groups={user['fsGroup']}"]
        elif self.isolated:
            become.append("--bounding-set=-all")
        variables = [f"{each['name']}={each['value']}" for each in container.get("env", [])]
        if self._account is not None:
            variables += [f"KUBERNETES_SERVICE_HOST={self._account.host}",
                          f"KUBERNETES_SERVICE_PORT={self._account.port}"]
        program = ENTRY_POINT if self.isolated else [str(self._binary), *ENTRY_POINT[1:]]
        command = [*become, "env", "-i", "PATH=/usr/local/bin:/usr/bin", *variables,
                   *program, *map(self._at, container["args"])]
        if self.isolated:
            enter = ["chroot", str(self.directory / "root")]
            if not self._is_root:  # No further namespace of users can be made behind chroot.
                enter = ["unshare", "--user", f"--map-user={user['runAsUser']}",
                         f"--map-group={user['runAsGroup']}", "--keep-caps", *enter]
            script = self._root_script(container) + f"exec {shlex.join([*enter, *command])}\n"
            command = [*self._outside, "bash", "-euc", script]
        self._child = Child("pod", command, self.log)
        return self._child

    def volume(self, name: str) -> Path:
        return self.directory / "volumes" / name

    def stop(self) -> int:
        """As a kubelet does: SIGTERM, then the grace period, then SIGKILL."""
        if self._child is None:
            return 0
        code = self._child.stop(self._spec["terminationGracePeriodSeconds"])
        self._child = None
        return code

    def kill(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def logs(self, lines: int = 60) -> str:
        return f"--- {self.log}\n{tail(self.log, lines)}"

    def status(self) -> dict[str, str]:
        """/proc/PID/status: user, groups, capabilities."""
        return self.status_of(self._child.pid)

    @staticmethod
    def status_of(pid: int) -> dict[str, str]:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}

    def is_writable(self, path: str) -> bool:
        """Whether the file system at this path of the running container is mounted for writing."""
        mounts = {}
        for line in Path(f"/proc/{self._child.pid}/mountinfo").read_text().splitlines():
            fields = line.split()
            mounts[fields[4]] = fields[5].split(",")
        inside = Path(path)
        for folder in (inside, *inside.parents):
            if str(folder) in mounts:
                return "rw" in mounts[str(folder)]
        raise AssertionError(f"{path} is on no mount")

    # Inside

    def _at(self, text: str) -> str:
        """`text` with paths of the container as they are on this machine."""
        if self.isolated:
            return text
        if self._account is not None:
            text = text.replace("inCluster: true", f"kubeconfig: {self._account.kubeconfig}")
        mounts = {each["mountPath"]: each["name"] for each in self._spec["containers"][0]["volumeMounts"]}
        paths = "|".join(map(re.escape, sorted(mounts, key=len, reverse=True)))
        return re.sub(
            rf"(?<![\w/])({paths})(?=[/\s]|$)", lambda found: str(self.volume(mounts[found[1]])), text
        )

    def _own(self, path: Path, mode: int, group: int) -> None:
        if self._is_root:
            os.chown(path, 0, group)
        path.chmod(mode)

    def _project(self, volume: dict, target: Path, read, group: int) -> None:
        if "secret" in volume:
            source = volume["secret"]
            data = read("Secret", source["secretName"]).get("data", {})
            content = {key: base64.b64decode(value) for key, value in data.items()}
        else:
            source = volume["configMap"]
            data = read("ConfigMap", source["name"]).get("data", {})
            content = {key: self._at(value).encode() for key, value in data.items()}
        mode = source.get("defaultMode", FILE_MODE)
        number = len(list(target.glob("..version-*")))
        version = target / f"..version-{number}"
        version.mkdir()
        self._own(version, 0o2775, group)
        for key, value in content.items():
            (version / key).write_bytes(value)
            self._own(version / key, mode | (mode & 0o400) >> 3, group)
            link = target / key
            if not link.is_symlink():
                link.symlink_to(f"..data/{key}")
        fresh = target / "..data_new"
        fresh.symlink_to(version.name)
        fresh.replace(target / "..data")
        self._own(target, 0o2775, group)

    def _root_script(self, container: dict) -> str:
        """Builds the container's root in a mount namespace: the machine's libraries and the binary,
        read-only; then the mounts."""
        root = self.directory / "root"
        root.mkdir(exist_ok=True)
        quoted = shlex.quote(str(root))
        lines = [
            "mount --make-rprivate /",
            f"mount -t tmpfs -o mode=0755 image {quoted}",
            f"cd {quoted}",
            "mkdir -p usr/local/bin etc proc dev",
            "for entry in /usr/*; do [ $entry = /usr/local ] || "
            "{ mkdir .$entry; mount --rbind $entry .$entry; }; done",
            "for entry in /bin /sbin /lib /lib64; do if [ -L $entry ]; then cp -P $entry .$entry; "
            "elif [ -d $entry ]; then mkdir .$entry; mount --rbind $entry .$entry; fi; done",
            "mount --rbind /proc proc",
            "mount --rbind /dev dev",
            f"touch .{ENTRY_POINT[0]}",
            f"mount --bind {shlex.quote(str(self._binary))} .{ENTRY_POINT[0]}",
        ]
        mounts = list(container["volumeMounts"])
        if self._account is not None:
            mounts.append({"name": "account", "mountPath": ACCOUNT_PATH, "readOnly": True})
        for mount in mounts:
            at = shlex.quote(f".{mount['mountPath']}")
            source = shlex.quote(str(self.volume(mount["name"])))
            lines += [f"mkdir -p {at}", f"mount --bind {source} {at}"]
            if mount.get("readOnly"):
                lines.append(f"mount -o remount,bind,ro {at}")
        if container["securityContext"]["readOnlyRootFilesystem"]:
            lines.append(f"mount -o remount,bind,ro {quoted}")
        return "\n".join(lines) + "\n"
