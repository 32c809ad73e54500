"""The packages of build/dist in fresh Debians, and its images as other tools read them, the one for another kind of
machine run by an emulator."""

import json
import re
import shutil

import pytest

from release.conftest import answers_well, run
from support.container import ImageLayout
from support.processes import Child, free_port, wait_for
from support.truce_process import REPOSITORY

SUITES = {"deb12": "bookworm", "deb13": "trixie"}


@pytest.mark.parametrize("name", SUITES)
def test_package_installs_starts_upgrades_and_goes(dist, name):
    [deb] = dist.glob(f"truce_*+{name}_*.deb")
    said = run(REPOSITORY / "release/other_debian.sh", "try", SUITES[name], deb)
    assert re.search(r"installed, started, upgraded, removed on .*Debian", said)


def test_image_is_what_other_tools_take(dist):
    [archive] = dist.glob("*-linux-amd64.oci.tar")
    about = json.loads(run("skopeo", "inspect", "--config", f"oci-archive:{archive}"))
    assert about["config"]["User"] == "65532:65532"
    assert about["architecture"] == "amd64"


def test_image_of_arm64_serves(dist, tmp_path):
    """Of a release that was made with ARM64=yes."""
    for archive in dist.glob("*-linux-arm64.oci.tar"):
        serves(archive, tmp_path)


def serves(archive, tmp_path) -> None:
    root, port = tmp_path / "root", free_port()
    ImageLayout(archive).unpack(root)
    shutil.copy("/usr/bin/qemu-aarch64-static", root)
    server = Child("arm64", [
        "chroot", "--userspec=65532:65532", str(root), "/qemu-aarch64-static", "/usr/local/bin/truce", "serve",
        "--no-cluster", "--data-dir", "/var/lib/truce", "--admission-address", "127.0.0.1:0", "--api-address",
        "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--probes-address", f"127.0.0.1:{port}"],
        tmp_path / "log")

    def is_ready() -> bool:
        assert server.exit_code is None, (tmp_path / "log").read_text()
        return answers_well(port, "/readyz")

    try:
        wait_for(is_ready, 60, "the emulated server is ready")
    finally:
        server.stop()
