#!/usr/bin/env python3
"""Writes charts/truce/files/seccomp.json, the system calls that a container of Truce may make, from what the
servers of the tests made, or tells that it lacks one.

  seccomp.py write FOLDER...    from folders of reports of strace (-c -U name,calls), as release/traced_truce leaves them
  seccomp.py check FOLDER...    exit 1 and the calls that were made and are not in the list

To make the reports: TRUCE_BINARY=$PWD/release/traced_truce ROTATE=all .tools/test.sh system e2e
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
LINE = re.compile(r"^([a-z_0-9]+) +\d+$")


def made(folders: list[Path]) -> set[str]:
    """Every call of every report."""
    calls = set()
    for folder in folders:
        for file in sorted(folder.iterdir()):
            calls |= {found[1] for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
                      if (found := LINE.match(line)) and found[1] != "total"}
    return calls


def profile(calls: set[str]) -> dict:
    """As Kubernetes and container runtimes read it: what is not listed fails with EPERM."""
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1,
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
            "syscalls": [{"names": sorted(calls), "action": "SCMP_ACT_ALLOW"}]}


def allowed() -> set[str]:
    return {name for rule in json.loads(PROFILE.read_text(encoding="utf-8"))["syscalls"] for name in rule["names"]}


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] not in ("write", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    calls = made([Path(name) for name in sys.argv[2:]])
    if not calls:
        print("seccomp: the reports name no call", file=sys.stderr)
        return 2
    if sys.argv[1] == "write":
        PROFILE.write_text(json.dumps(profile(calls | BESIDE), indent=2) + "\n", encoding="utf-8")
        return 0
    lacking = calls - allowed()
    for name in sorted(lacking):
        print(f"{PROFILE.name} lacks {name}")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
