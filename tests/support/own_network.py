"""A network of a test's own, for programs that listen on all addresses or at ports of their choice."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import socket
import struct
from collections.abc import Iterator

CLONE_NEWNET = 0x40000000  # <linux/sched.h>
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1  # <linux/sockios.h>, <net/if.h>

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def own_network() -> Iterator[bool]:
    """Inside, this thread and all that it starts have a network with loopback alone, which ends with
    the last of them; ports of the machine's network are free in it. Sockets made before stay where
    they are.

    Where this user may make none (a container without rights), it yields False and the machine's
    own network stays: ports may then be taken.
    """
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.unshare(CLONE_NEWNET) != 0:
            if ctypes.get_errno() != errno.EPERM:
                raise OSError(ctypes.get_errno(), "unshare")
            yield False
            return
        try:
            _bring_loopback_up()
            yield True
        finally:
            if _libc.setns(before, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns: the thread stays in the test's network")
    finally:
        os.close(before)


def _bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(control, SIOCGIFFLAGS, asked), 16)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))
