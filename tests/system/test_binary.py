"""The program as a file and as a process: what makes faults of memory harder to use."""

import os
import platform
import re
import subprocess
from pathlib import Path

import pytest

from support.truce_process import BINARY, REPOSITORY

BUILD = BINARY.parent
ENDBR64 = b"\xf3\x0f\x1e\xfa"  # where an indirect jump may end


def readelf(*args) -> str:
    return subprocess.run(["readelf", "--wide", *map(str, args)], capture_output=True, text=True,
                          check=True).stdout


def segments() -> dict[str, str]:
    """Flags by type."""
    found = re.findall(r"^ +([A-Z_]+) .* ([R ][W ][E ]) 0x[0-9a-f]+$", readelf("--segments", BINARY),
                       re.M)
    return {kind: flags.strip() for kind, flags in found}


def test_position_independent_with_read_only_relocations_and_no_executable_stack():
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header", BINARY)
    dynamic = readelf("--dynamic", BINARY)
    assert re.search(r"FLAGS_1.*NOW.*PIE", dynamic)
    assert re.search(r"\(FLAGS\).*BIND_NOW", dynamic)
    assert not re.search(r"RPATH|RUNPATH|TEXTREL", dynamic)
    flags = segments()
    assert "GNU_RELRO" in flags
    assert flags["GNU_STACK"] == "RW"


def test_functions_check_their_stack_and_their_buffers():
    imported = set(re.findall(r"UND (\w+)", readelf("--dyn-syms", BINARY)))
    assert "__stack_chk_fail" in imported
    assert {name for name in imported if name.startswith("__mem") and name.endswith("_chk")}


@pytest.mark.parametrize("library", ["libtruce_sqlite.a", "libtruce_httplib.a"])
def test_third_party_code_is_no_exception(library):
    archive = BUILD / library
    if not archive.exists():  # the system's library: its distribution's flags
        return
    assert "UND __stack_chk_fail" in readelf("--syms", archive)
    if platform.machine() == "x86_64":
        assert "x86 feature: IBT, SHSTK" in readelf("--notes", archive)


def test_indirect_jumps_are_enforced_where_the_processor_can():
    if platform.machine() != "x86_64":
        return
    # Each object that is compiled here says so. The program as a whole does only where the start files of
    # the C library do, which Debian's do not yet.
    archives = [*(BUILD / "registry").rglob("*.a"), *(BUILD / "webhook").rglob("*.a")]
    assert archives
    for archive in archives:
        notes = readelf("--notes", archive)
        assert notes.count("File: ") == notes.count("x86 feature: IBT, SHSTK") > 0, archive
    assert BINARY.read_bytes().count(ENDBR64) > 10_000


def test_the_standard_library_checks_its_indices():
    # Its message stands in a program that does.
    assert b"__glibcxx_assert_fail" in BINARY.read_bytes()


def test_no_path_of_the_machine_that_built_it():
    content = BINARY.read_bytes()
    for path in {REPOSITORY, BUILD, Path.home()} - {Path("/"), Path("/root")}:
        assert str(path).encode() not in content, path


def test_no_core_dump_and_no_look_into_its_memory(truce):
    truce.start()
    limits = Path(f"/proc/{truce.pid}/limits").read_text()
    assert re.search(r"^Max core file size +0 +0 ", limits, re.M)
    # The files of a process that may not be dumped are root's, whoever runs it.
    memory = Path(f"/proc/{truce.pid}/mem").stat()
    assert memory.st_uid == 0
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            Path(f"/proc/{truce.pid}/mem").open("rb").close()
