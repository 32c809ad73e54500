#!/usr/bin/env python3
"""Keeps charts/truce/files/seccomp.json, the system calls that a container of Truce may make: what the servers
of the tests made, as release/traced_truce reports it (strace -c -U name,calls).

  seccomp.py write FOLDER...    the list anew, from reports of all calls (TRUCE_TRACE=all)
  seccomp.py add FOLDER...      into the list what the reports name
  seccomp.py check FOLDER...    exit 1 and the calls that were made and are not in the list

To make the reports, in build/traces: TRUCE_BINARY=$PWD/release/traced_truce ROTATE=all .tools/test.sh system e2e
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PROFILE = Path(__file__).resolve().parent.parent / "charts/truce/files/seccomp.json"
# What no test makes a server do, and the libraries may: how a process ends, what allocators and the loader
# fall back on, what a newer C library or kernel does instead.
BESIDE = {
    "exit", "exit_group", "rt_sigreturn", "restart_syscall", "tgkill", "gettid", "getpid", "sched_yield", "madvise",
    "mremap", "mprotect", "munmap", "mmap", "brk", "clone", "clone3", "futex", "rseq", "set_robust_list", "membarrier",
    "getrandom", "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "fstat", "newfstatat",
    "stat", "statx", "fstatfs", "statfs", "open", "openat", "close", "read", "write", "writev", "readv", "pread64",
    "pwrite64", "lseek", "fsync", "fdatasync", "ftruncate", "rt_sigaction", "rt_sigprocmask", "sigaltstack",
    "prlimit64", "getrlimit", "poll", "ppoll", "epoll_wait", "epoll_pwait", "recvmsg", "sendmsg", "sendmmsg",
    "sched_getaffinity", "arch_prctl", "set_tid_address", "execve", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "uname", "getdents64", "pipe2", "eventfd2", "capget", "prctl",
    # Of the runtime, between the list taking effect and the program.
    "setresuid", "setresgid", "setgroups", "capset", "fchdir", "chdir", "dup3", "dup", "dup2", "close_range",
}
# What processors that came later do instead of older calls (arm64), and newer C libraries everywhere.
NEWER = {
    "access": "faccessat", "chmod": "fchmodat", "chown": "fchownat", "dup2": "dup3", "epoll_create": "epoll_create1",
    "epoll_wait": "epoll_pwait", "getdents": "getdents64", "link": "linkat", "mkdir": "mkdirat", "open": "openat",
    "pipe": "pipe2", "poll": "ppoll", "readlink": "readlinkat", "rename": "renameat", "rmdir": "unlinkat",
    "select": "pselect6", "stat": "newfstatat", "symlink": "symlinkat", "unlink": "unlinkat",
}
LINE = re.compile(r"^([a-z_0-9]+) +\d+$")


def made(folders: list[Path]) -> set[str]:
    """Every call of every report."""
    calls = set()
    for folder in folders:
        for file in sorted(folder.iterdir()):
            calls |= {found[1] for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
                      if (found := LINE.match(line)) and found[1] != "total"}
    return calls


def profile(made_calls: set[str]) -> dict:
    """As Kubernetes and container runtimes read it: what is not listed fails with EPERM."""
    calls = made_calls | BESIDE
    calls |= {newer for older, newer in NEWER.items() if older in calls}
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
            "syscalls": [{"names": sorted(calls), "action": "SCMP_ACT_ALLOW"}]}


def allowed() -> set[str]:
    return {name for rule in json.loads(PROFILE.read_text(encoding="utf-8"))["syscalls"] for name in rule["names"]}


def write(calls: set[str]) -> None:
    PROFILE.write_text(json.dumps(profile(calls), indent=2) + "\n", encoding="utf-8")


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("write", "add", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    what, folders = sys.argv[1], [Path(name) for name in sys.argv[2:]]
    calls = made(folders)
    # Reports of what is outside of the list name nothing where all is well.
    if not any(file for folder in folders for file in folder.iterdir()) or (what == "write" and not calls):
        print("seccomp: there is no report, or none names a call", file=sys.stderr)
        return 2
    if what != "check":
        write(calls | (allowed() if what == "add" else set()))
        return 0
    lacking = calls - allowed()
    for name in sorted(lacking):
        print(f"{PROFILE.name} lacks {name}")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
