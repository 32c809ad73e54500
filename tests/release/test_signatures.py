"""Signatures as cosign makes and verifies them, without a service: with keys made for the test."""

import json
import os
import re
import shutil
import subprocess

import pytest

from release.conftest import answers_well, run
from support.cluster import PEERS
from support.processes import Child, free_port
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
    """The manual's command for who has the project's key."""
    install = (REPOSITORY / "docs/install.md").read_text().split("\n## Check what you got\n")[1].split("\n## ")[0]
    [block] = re.findall(r"^```\n(cosign verify-blob --key .*?)^```", install, re.M | re.S)
    return subprocess.run(["bash", "-euc", block], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{PEERS}:{os.environ['PATH']}"})


def key_pair(folder) -> dict[str, str]:
    """Makes cosign.key and cosign.pub; the environment to use them in."""
    environment = {"COSIGN_PASSWORD": "", "HOME": str(folder), "PATH": "/usr/bin:/bin"}
    run(COSIGN, "generate-key-pair", cwd=folder, env=environment)
    return environment


def verify(folder, *words) -> subprocess.CompletedProcess:
    return subprocess.run([COSIGN, "verify-blob", "--key", "truce.pub", *OFFLINE, *words, "SHA256SUMS"],
                          cwd=folder, capture_output=True, text=True)


def test_cosign_verifies_what_a_release_signed(signed):
    good = by_readme(signed)
    assert good.returncode == 0 and "Verified OK" in good.stderr, good.stderr
    (signed / "SHA256SUMS").write_text("forged\n")
    assert by_readme(signed).returncode != 0


def test_cosign_signs_sums_with_a_key_of_its_own(signed):
    environment = key_pair(signed)
    (signed / "truce.pub").write_bytes((signed / "cosign.pub").read_bytes())
    run(COSIGN, "sign-blob", "--yes", "--key", "cosign.key", "--use-signing-config=false", "--tlog-upload=false",
        "--bundle", "SHA256SUMS.sigstore.json", "SHA256SUMS", cwd=signed, env=environment)
    assert verify(signed, "--bundle", "SHA256SUMS.sigstore.json").returncode == 0


CONFIGURATION = """
version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


@pytest.fixture
def registry(tmp_path):
    """Address of an image registry."""
    port, config = free_port(), tmp_path / "registry.yml"
    config.write_text(CONFIGURATION.format(folder=tmp_path / "images", port=port))
    server = Child("registry", ["docker-registry", "serve", str(config)], tmp_path / "registry.log")
    server.wait_until(lambda: answers_well(port, "/v2/"), 30, "answering")
    yield f"127.0.0.1:{port}"
    server.stop()


def test_a_registry_gives_each_machine_its_image_and_cosign_its_signature(dist, registry, tmp_path):
    name = f"{registry}/platform/truce"
    images = [*dist.glob("*-amd64.oci.tar"), tmp_path / "arm64.oci.tar"]
    script = ("import sys; sys.path.insert(0, sys.argv[1]); import image; from pathlib import Path; "
              "made = image.build(b'program', [], version='1', commit='c', epoch=0, architecture='arm64'); "
              "Path('arm64.oci.tar').write_bytes(made.layout.tar(0))")
    run("python3", "-c", script, REPOSITORY / "release", cwd=tmp_path)
    run(REPOSITORY / "release/image.py", tmp_path / "one.tar", *images)
    run("skopeo", "copy", "--all", "--preserve-digests", "--dest-tls-verify=false", "--digestfile", tmp_path / "digest",
        f"oci-archive:{tmp_path}/one.tar", f"docker://{name}:1")
    for architecture in ("amd64", "arm64"):
        said = run("skopeo", "inspect", "--tls-verify=false", f"--override-arch={architecture}", "--config",
                   f"docker://{name}:1")
        assert json.loads(said)["architecture"] == architecture
    at, environment = f"{name}@{(tmp_path / 'digest').read_text()}", key_pair(tmp_path)
    run(COSIGN, "sign", "--yes", "--key", "cosign.key", "--use-signing-config=false", "--tlog-upload=false", at,
        cwd=tmp_path, env=environment)
    words = [COSIGN, "verify", "--key", "cosign.pub", *OFFLINE]
    run(*words, at, cwd=tmp_path, env=environment)
    # By the tag too, and never another image.
    run(*words, f"{name}:1", cwd=tmp_path, env=environment)
    run("skopeo", "copy", "--dest-tls-verify=false", f"oci-archive:{images[0]}", f"docker://{name}:2")
    done = subprocess.run([*words, f"{name}:2"], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode != 0
