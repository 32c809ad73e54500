"""The packages of build/dist in fresh Debians, and its image as other tools read it."""

import json
import re

import pytest

from release.conftest import run
from support.truce_process import REPOSITORY

SUITES = {"deb12": "bookworm", "deb13": "trixie"}


@pytest.mark.parametrize("name", SUITES)
def test_package_installs_starts_upgrades_and_goes(dist, name):
    [deb] = dist.glob(f"truce_*+{name}_*.deb")
    said = run(REPOSITORY / "release/other_debian.sh", "try", SUITES[name], deb)
    assert re.search(r"installed, started, upgraded, removed on .*Debian", said)


def test_image_is_what_other_tools_take(dist):
    [archive] = dist.glob("*.oci.tar")
    about = json.loads(run("skopeo", "inspect", "--config", f"oci-archive:{archive}"))
    assert about["config"]["User"] == "65532:65532"
    assert about["architecture"] == "amd64"
