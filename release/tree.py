"""Files of a package in memory, and archives of them that are equal byte for byte whoever makes them
when: sorted, owned by numbers, all of one time."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Node:
    mode: int
    data: bytes = b""
    link: str = ""  # target of a symbolic link
    is_folder: bool = False
    owner: int = 0  # user and group


class Tree:
    """Paths without a leading "/". Whatever lies in a folder that nobody added gets one of mode 0755."""

    def __init__(self):
        self.nodes: dict[str, Node] = {}

    def file(self, path: str, data: bytes | str, mode: int = 0o644) -> None:
        self._put(path, Node(mode, data.encode() if isinstance(data, str) else data))

    def link(self, path: str, target: str) -> None:
        self._put(path, Node(0o777, link=target))

    def folder(self, path: str, mode: int = 0o755, owner: int = 0) -> None:
        self._put(path, Node(mode, is_folder=True, owner=owner))

    def copy(self, path: str, source: Path) -> None:
        """A file of this machine; whether it may be executed is kept, nothing else."""
        executable = source.stat().st_mode & stat.S_IXUSR
        self.file(path, source.read_bytes(), 0o755 if executable else 0o644)

    def below(self, folder: str) -> "Tree":
        """The same files, in `folder`."""
        moved = Tree()
        for path, node in self.nodes.items():
            moved._put(f"{folder}/{path}", node)
        return moved

    def size(self) -> int:
        return sum(len(node.data) for node in self.nodes.values())

    def tar(self, epoch: int, prefix: str = "") -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path, node in sorted(self._with_folders().items()):
                entry = tarfile.TarInfo(prefix + path)
                entry.mtime, entry.mode = epoch, node.mode
                entry.uid = entry.gid = node.owner
                if node.is_folder:
                    entry.type = tarfile.DIRTYPE
                    entry.name += "/"
                elif node.link:
                    entry.type, entry.linkname = tarfile.SYMTYPE, node.link
                entry.size = len(node.data)
                archive.addfile(entry, io.BytesIO(node.data))
        return out.getvalue()

    def tar_gz(self, epoch: int, prefix: str = "") -> bytes:
        return compressed(self.tar(epoch, prefix))

    def write(self, folder: Path) -> None:
        """Puts the files below `folder`, owners too where this user may."""
        with tarfile.open(fileobj=io.BytesIO(self.tar(0))) as archive:
            archive.extractall(folder, numeric_owner=True)

    def _put(self, path: str, node: Node) -> None:
        if path.startswith("/") or ".." in PurePosixPath(path).parts:
            raise ValueError(f"not a path inside of a package: {path}")
        self.nodes[path] = node

    def _with_folders(self) -> dict[str, Node]:
        every = dict(self.nodes)
        for path in self.nodes:
            for parent in PurePosixPath(path).parents:
                if str(parent) != ".":
                    every.setdefault(str(parent), Node(0o755, is_folder=True))
        return every


class Effort:
    """How hard archives are compressed. Tests of what is in them take less of it."""

    gzip, xz = 6, 6

    @classmethod
    def little(cls) -> None:
        cls.gzip, cls.xz = 1, 0


def compressed(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=Effort.gzip, mtime=0)


def squeezed(data: bytes) -> bytes:
    return lzma.compress(data, preset=Effort.xz)
