"""Signatures as cosign makes and verifies them, without a service: with keys made for the test."""

import os
import re
import shutil
import subprocess

import pytest

from release.conftest import run
from support.cluster import PEERS
from support.truce_process import REPOSITORY

COSIGN = PEERS / "cosign"
OFFLINE = ("--insecure-ignore-tlog=true",)


@pytest.fixture
def signed(dist, tmp_path):
    """A folder with the sums, signed by `make release SIGNING_KEY=…`'s own step, and the public key."""
    key = tmp_path / "key.pem"
    run("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key)
    run("openssl", "ec", "-in", key, "-pubout", "-out", tmp_path / "truce.pub")
    shutil.copy(dist / "SHA256SUMS", tmp_path)
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import make; from pathlib import Path; "
              "Path('SHA256SUMS.sig').write_bytes(make.signature(Path('SHA256SUMS').read_bytes(), Path('key.pem')))")
    run("python3", "-c", script, REPOSITORY / "release", cwd=tmp_path)
    return tmp_path


def by_readme(folder) -> subprocess.CompletedProcess:
    """The README's command for who has the project's key."""
    install = (REPOSITORY / "README.md").read_text().split("\n## Install\n")[1].split("\n## ")[0]
    [block] = re.findall(r"^```\n(cosign verify-blob --key .*?)^```", install, re.M | re.S)
    return subprocess.run(["bash", "-euc", block], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{PEERS}:{os.environ['PATH']}"})


def verify(folder, *words) -> subprocess.CompletedProcess:
    return subprocess.run([COSIGN, "verify-blob", "--key", "truce.pub", *OFFLINE, *words, "SHA256SUMS"],
                          cwd=folder, capture_output=True, text=True)


def test_cosign_verifies_what_a_release_signed(signed):
    good = by_readme(signed)
    assert good.returncode == 0 and "Verified OK" in good.stderr, good.stderr
    (signed / "SHA256SUMS").write_text("forged\n")
    assert by_readme(signed).returncode != 0


def test_cosign_signs_sums_with_a_key_of_its_own(signed):
    environment = {"COSIGN_PASSWORD": "", "HOME": str(signed), "PATH": "/usr/bin:/bin"}
    run(COSIGN, "generate-key-pair", cwd=signed, env=environment)
    (signed / "truce.pub").write_bytes((signed / "cosign.pub").read_bytes())
    run(COSIGN, "sign-blob", "--yes", "--key", "cosign.key", "--use-signing-config=false", "--tlog-upload=false",
        "--bundle", "SHA256SUMS.sigstore.json", "SHA256SUMS", cwd=signed, env=environment)
    assert verify(signed, "--bundle", "SHA256SUMS.sigstore.json").returncode == 0
