"""What `make release` makes, of the program as it is built: archives, packages, bills, charts, image. The image
runs under crun as the chart's Pod would."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml

from support.container import Container, ImageLayout, system_calls
from support.cluster import PEERS
from support.helm import SERVER_CHART, Helm
from support.processes import free_port, wait_for
from support.truce_process import BINARY, REPOSITORY, require_binary
from system.test_cli import COMMAND_LINE

RELEASE = REPOSITORY / "release"
HOME = "https://truce.example.org"
IMAGE = "registry.example.org/platform/truce"
IMAGE_BYTES_MAX = 40_000_000
sys.path.insert(0, str(RELEASE))

import agreement  # noqa: E402
import audit  # noqa: E402
import bill  # noqa: E402
import charts  # noqa: E402
import image  # noqa: E402
import packages  # noqa: E402
import seccomp  # noqa: E402

VERSION = agreement.version()


def run(*command: str | Path, **more) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Dist:
    """The folder of a release."""

    def __init__(self, folder: Path, key: Path):
        self.folder, self.key = folder, key

    def __getitem__(self, pattern: str) -> Path:
        [found] = self.folder.glob(pattern)
        return found

    def json(self, pattern: str) -> dict:
        return json.loads(self[pattern].read_text())

    def names(self) -> set[str]:
        return {file.name for file in self.folder.iterdir()}


@pytest.fixture(scope="module")
def dist(tmp_path_factory) -> Dist:
    require_binary()
    folder = tmp_path_factory.mktemp("release")
    key = folder / "key.pem"
    run("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", key)
    run(sys.executable, RELEASE / "make.py", "--trial", "--as-built", "--into", folder / "dist",
        "--home-url", HOME, "--image", IMAGE, "--signing-key", key)
    return Dist(folder / "dist", key)


@pytest.fixture(scope="module")
def layout(dist) -> ImageLayout:
    return ImageLayout(dist["*.oci.tar"])


# Sums, signature, what must agree


@pytest.mark.slow(30)
def test_sums_cover_every_file_and_are_signed(dist, tmp_path):
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist.folder)
    summed = set(re.findall(r"^\w{64}  (\S+)$", dist["SHA256SUMS"].read_text(), re.M))
    assert summed == dist.names() - {"SHA256SUMS", "SHA256SUMS.sig"}
    # The manual's commands, as they stand there.
    install = (REPOSITORY / "docs/install.md").read_text().split("\n## Check what you got\n")[1].split("\n## ")[0]
    [verify] = re.findall(r"^```\n(base64 .*?)^```", install, re.M | re.S)
    for name in ("SHA256SUMS", "SHA256SUMS.sig"):
        (tmp_path / name).write_bytes(dist[name].read_bytes())
    run("openssl", "ec", "-in", dist.key, "-pubout", "-out", tmp_path / "truce.pub")
    assert "Verified OK" in run("bash", "-euc", verify, cwd=tmp_path)
    (tmp_path / "SHA256SUMS").write_text("forged\n")
    assert subprocess.run(["bash", "-euc", verify], cwd=tmp_path, capture_output=True).returncode != 0


def test_versions_that_disagree_are_told_each_with_its_file():
    assert agreement.disagreements(VERSION, "") == []
    found = agreement.disagreements("9.9.9", "v1.0.0")
    for file in ("charts/truce/Chart.yaml", "charts/truce-check/Chart.yaml", "charts/truce-presync/Chart.yaml",
                 "CHANGELOG.md", "the commit carries the tag v1.0.0, not v9.9.9"):
        assert any(file in line for line in found), file


def test_without_an_address_no_links_and_no_manifest_for_krew(dist):
    # With one: both, of this very archive.
    manifest = yaml.safe_load(dist["truce.krew.yaml"].read_text())
    [platform] = manifest["spec"]["platforms"]
    archive = dist[platform["uri"].rpartition("/")[2]]
    assert platform["uri"].startswith(HOME + "/")
    assert platform["sha256"] == hashlib.sha256(archive.read_bytes()).hexdigest()
    with tarfile.open(archive) as tar:
        assert platform["bin"] in tar.getnames()
    plain = charts.archives(0)[f"truce-{VERSION}.tgz"]
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        chart = yaml.safe_load(tar.extractfile("truce/Chart.yaml").read())
    assert not {"home", "sources", "maintainers"} & set(chart) and "artifacthub.io/links" not in chart["annotations"]
    linked = charts.archives(0, HOME)[f"truce-{VERSION}.tgz"]
    with tarfile.open(fileobj=io.BytesIO(linked)) as tar:
        chart = yaml.safe_load(tar.extractfile("truce/Chart.yaml").read())
    assert chart["home"] == HOME and chart["sources"] == [HOME] and chart["maintainers"][0]["name"]
    assert {link["name"] for link in yaml.safe_load(chart["annotations"]["artifacthub.io/links"])} == {"source", "support"}


# Packages


def test_debian_package(dist):
    deb = dist["truce_*.deb"]
    assert run("dpkg-deb", "-f", deb, "Version").startswith(f"{VERSION}+deb")
    depends = run("dpkg-deb", "-f", deb, "Depends")
    for library in ("libc6 ", "libssl3", "libstdc++6", "adduser"):
        assert library in depends
    listed = run("dpkg-deb", "-c", deb)
    for path in ("usr/bin/truce", "etc/truce/truce.yaml", "usr/lib/systemd/system/truce.service",
                 "usr/share/man/man1/truce.1.gz", "usr/share/man/man1/truce-check.1.gz",
                 "usr/share/man/man5/truce.yaml.5.gz", "usr/share/bash-completion/completions/truce"):
        assert re.search(rf"^-\S+ 0/0 .* \./{re.escape(path)}$", listed, re.M), path


def test_the_service_is_hardened_and_reads(dist, tmp_path):
    run("dpkg-deb", "-x", dist["truce_*.deb"], tmp_path)
    unit = (tmp_path / "usr/lib/systemd/system/truce.service").read_text()
    for line in ("User=truce", "NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=",
                 "SystemCallFilter=@system-service", "MemoryDenyWriteExecute=yes"):
        assert f"\n{line}\n" in unit
    command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
    assert command[:2] == ["/usr/bin/truce", "serve"]
    shown = run(tmp_path / "usr/bin/truce", "config", "--config", tmp_path / "etc/truce/truce.yaml")
    assert "mode: audit" in shown


def test_manuals_render_without_a_warning(dist, tmp_path):
    run("dpkg-deb", "-x", dist["truce_*.deb"], tmp_path)
    pages = sorted((tmp_path / "usr/share/man").rglob("*.gz"))
    commands = re.findall(COMMAND_LINE, run(BINARY, "--help"), re.M)
    assert {page.name for page in pages} == {"truce.1.gz", "truce.yaml.5.gz",
                                             *(f"truce-{name}.1.gz" for name in commands)}
    # A list of words without a space cannot be broken.
    done = subprocess.run(["man", "--warnings", "-P", "cat", "-l", *pages], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "MANROFFOPT": "-ww -Wbreak"})
    assert done.returncode == 0 and done.stderr == ""
    assert "truce-who-owns - find the owner of a resource, or that it is free" in re.sub(r".\x08", "", done.stdout)


def test_the_archive_needs_nothing_but_the_c_library(dist, tmp_path):
    with tarfile.open(dist["*-linux-*.tar.gz"]) as tar:
        tar.extractall(tmp_path)
    [folder] = tmp_path.iterdir()
    assert run(folder / "truce", "--version").startswith(f"truce {VERSION}")
    of_machine = {name for name, path in packages.libraries_of(folder / "truce").items()
                  if not str(path).startswith(str(folder))}
    assert {name.rpartition("/")[2].split(".so")[0] for name in of_machine} <= {"libc", "libm", "ld-linux-x86-64"}
    glibc = re.search(r"glibc (\S+) or newer", (folder / "README").read_text())[1]
    assert re.fullmatch(r"2\.\d+", glibc)


# Bills


def test_both_bills_name_every_library_and_what_is_compiled_in(dist):
    cyclonedx, spdx = dist.json("*.cdx.json"), dist.json("*.spdx.json")
    properties = [{p["name"]: p["value"] for p in each["properties"]} for each in cyclonedx["components"]]
    named = {name.removeprefix("truce:sha256:") for each in properties for name in each if "sha256:" in name}
    needed = {Path(name).name for name in packages.libraries_of(BINARY)}
    assert needed < named
    assert {"httplib.h", "httplib.cc", "sqlite3.h", "sqlite3.c", "preact.min.umd.js", "hooks.umd.js"} < named
    assert any(each["purl"].startswith("pkg:npm/preact@") for each in cyclonedx["components"])
    by_source = {each["truce:source"]: each for each in properties}
    for source, files in (("cpp-httplib", "httplib"), ("sqlite3", "sqlite")):
        file = f"{files}.cc" if files == "httplib" else "sqlite3.c"
        content = (REPOSITORY / "build/deps" / files / file).read_bytes()
        assert by_source[source][f"truce:sha256:{file}"] == hashlib.sha256(content).hexdigest()
    assert {"ca-certificates", "tzdata", "glibc", "openssl", "nlohmann-json3", "cli11"} < set(by_source)
    unknown = {source for source in by_source if source not in bill.LICENCES} - {"base-files", "tzdata"}
    assert not unknown, "bill.py lacks their licences"
    assert {each["purl"] for each in cyclonedx["components"]} == {
        each["externalRefs"][0]["referenceLocator"] for each in spdx["packages"] if each["name"] != "truce"}


def test_provenance_is_of_these_files(dist):
    statement = dist.json("*.provenance.json")
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    for subject in statement["subject"]:
        digest = hashlib.sha256((dist.folder / subject["name"]).read_bytes()).hexdigest()
        assert subject["digest"]["sha256"] == digest
    assert {each["name"] for each in statement["subject"]} == dist.names() - {
        "SHA256SUMS", "SHA256SUMS.sig", dist["*.provenance.json"].name}
    sources = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert any("gitCommit" in each["digest"] for each in sources if "digest" in each)


def test_every_known_vulnerability_is_judged_and_guarded(dist, tmp_path):
    assert audit.audit(dist.json("*.cdx.json")) == []
    # At least what we know of: cpp-httplib's of 2023 to 2026, SQLite's reset of its log.
    advisories, _ = audit.read(audit.ADVISORIES)
    assert len([each for each in advisories if each.id.startswith("CVE-")]) >= 20
    text = audit.ADVISORIES.read_text()
    for row, complaint in (
        ("CVE-9999-1\topenssl\t<99.0\topen\tsomething\t\n", "CVE-9999-1 in openssl .*: is not judged yet"),
        ("CVE-9999-2\tsqlite3\t<99.0\tfixed\tsomething\t\n", "called fixed, but versions <99.0 have it"),
        ("CVE-9999-3\tsqlite3\t*\tguarded\tsomething\t\n", "guarded, and no test guards it"),
        ("CVE-9999-4\tsqlite3\t*\tguarded\tsomething\ttests/unit/gone.cc:Gone\n", "its test .* is not there"),
        ("CVE-9999-5\tsqlite3\t*\tmaybe\tsomething\t\n", "the verdict is 'maybe'"),
    ):
        (tmp_path / "advisories.tsv").write_text(text + row)
        [found] = audit.audit(dist.json("*.cdx.json"), tmp_path / "advisories.tsv")
        assert re.search(complaint, found)


# Charts


def test_charts_install_from_their_archives(dist, tmp_path):
    helm = Helm(4, tmp_path)
    values = {"watchCluster": False, "certificates": {"mode": "selfManaged"}, "webhook": {"enabled": False}}
    rendered = helm.objects(values, dist[f"truce-{VERSION}.tgz"])
    [deployment] = [each for each in rendered if each["kind"] == "Deployment"]
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == f"{IMAGE}:{VERSION}"
    of_folder = helm.objects(values | {"image": {"registry": "registry.example.org", "repository": "platform/truce"}},
                             SERVER_CHART)
    assert rendered == of_folder
    helm.expect("lint", dist[f"truce-presync-{VERSION}.tgz"])
    helm.expect("show", "chart", dist[f"truce-check-{VERSION}.tgz"])
    kinds = [each["spec"]["names"]["kind"] for each in yaml.safe_load_all(dist["truce-crds-*.yaml"].read_text())]
    assert {"OwnershipCheck", "OwnershipGrant", "NamingPolicy", "DeclarationMapping"} <= set(kinds)


# Pipelines


def test_workflows_are_sound_and_run_targets_of_the_makefile_only():
    workflows = sorted((REPOSITORY / ".github/workflows").glob("*.yaml"))
    assert {file.stem for file in workflows} == {"ci", "weekly", "release"}
    run(PEERS / "actionlint", *workflows)
    targets = set(re.findall(r"^([a-z-]+):.*## ", (REPOSITORY / "Makefile").read_text(), re.M))
    # What a checkout needs before there is a Makefile.
    before = ("apt-get update", "git config --global --add safe.directory")
    for file in workflows:
        for name, job in yaml.safe_load(file.read_text())["jobs"].items():
            for step in job["steps"]:
                command = step.get("run", "")
                if "uses" in step:
                    assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), "pinned by commit"
                elif not command.startswith(before):
                    word, target, *_ = command.split()
                    assert word == "make" and target in targets, f"{file.name}, {name}: {command}"
                    assert "\n" not in command.strip()


STUB = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
while [ $# -gt 0 ]; do
  case "$1" in
    --digestfile) echo sha256:abc >"$2" ;;
    oci-archive:*) cp "${1#oci-archive:}" "$CALLS.image" ;;
  esac
  shift
done
"""


def test_publishing_signs_before_it_publishes_and_needs_a_tag(dist, tmp_path):
    here = tmp_path / "clone"
    run("git", "init", "--quiet", here)
    shutil.copytree(RELEASE, here / "release")
    script = here / "release/publish.sh"
    run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--allow-empty", "-m", "a", cwd=here)
    programs = here / "build/peers/bin"
    programs.mkdir(parents=True)
    for name in ("skopeo", "cosign", "gh"):
        (programs / name).write_text(STUB)
        (programs / name).chmod(0o755)
    (here / "build/dist").symlink_to(dist.folder)
    environment = {**os.environ, "CALLS": str(tmp_path / "calls")}

    def publish() -> subprocess.CompletedProcess:
        return subprocess.run([script, IMAGE], capture_output=True, text=True, env=environment)

    assert publish().returncode == 1 and not (tmp_path / "calls").exists()
    run("git", "tag", f"v{VERSION}", cwd=here)
    done = publish()
    assert done.returncode == 0, done.stderr
    calls = [line.split()[:2] for line in (tmp_path / "calls").read_text().splitlines()]
    assert calls == [["cosign", "sign-blob"], ["skopeo", "copy"], ["cosign", "sign"], ["gh", "release"]]
    assert f"{IMAGE}@sha256:abc" in (tmp_path / "calls").read_text()
    assert [entry["digest"] for entry in manifests_of(tmp_path / "calls.image")] == [
        ImageLayout(dist["*.oci.tar"]).index["manifests"][0]["digest"]]


def manifests_of(archive: Path) -> list[dict]:
    """Those that the one index of the archive names."""
    with tarfile.open(archive) as tar:
        [index] = json.load(tar.extractfile("index.json"))["manifests"]
        assert index["annotations"]["org.opencontainers.image.ref.name"] == VERSION
        return json.load(tar.extractfile("blobs/sha256/" + index["digest"].removeprefix("sha256:")))["manifests"]


def test_images_of_several_architectures_become_one(dist, tmp_path):
    other = image.build(b"program", [], version=VERSION, commit="c0ffee", epoch=0, architecture="arm64")
    (tmp_path / "arm64.oci.tar").write_bytes(other.layout.tar(0))
    (tmp_path / "one.tar").write_bytes(image.together([dist["*.oci.tar"], tmp_path / "arm64.oci.tar"]).tar(0))
    manifests = manifests_of(tmp_path / "one.tar")
    assert [entry["platform"] for entry in manifests] == [
        {"architecture": "amd64", "os": "linux"}, {"architecture": "arm64", "os": "linux"}]
    with tarfile.open(tmp_path / "one.tar") as tar:
        for entry in tar:
            if entry.name.startswith("blobs/") and entry.isfile():
                assert entry.name.endswith("/" + hashlib.sha256(tar.extractfile(entry).read()).hexdigest())
        assert set(tar.getnames()) >= {"blobs/sha256/" + entry["digest"].removeprefix("sha256:") for entry in manifests}


# The same bytes, whoever builds when


PACKAGING = """
import hashlib, sys, os
sys.path.insert(0, {release!r})
import charts, debian, image
from pathlib import Path
from tree import Effort
Effort.little()
needed = image.needed_packages(Path({binary!r}), Path({cache!r}))
made = image.build(b"program", needed, version="1.2.3", commit="c0ffee", epoch=1700000000, architecture="amd64")
deb = debian.build(debian.contents(Path({binary!r}), b"program", "1.2.3", "2023-11-14"), "libc6", version="1.2.3",
                   architecture="amd64", epoch=1700000000)
parts = [made.layout.tar(1700000000), deb, *charts.archives(1700000000).values(), charts.policy_pack("1.2.3", 1700000000)]
print(*(hashlib.sha256(part).hexdigest() for part in parts))
"""


@pytest.mark.rotating(40)
def test_packaging_depends_on_no_place_time_or_habit(dist, tmp_path):
    """The whole of it, compiler included, is built twice by `make release-test`."""
    script = PACKAGING.format(release=str(RELEASE), binary=str(BINARY), cache=str(REPOSITORY / "build/packages"))
    seen = set()
    for number, (zone, words, mask) in enumerate((("UTC", "C", 0o022), ("Pacific/Chatham", "C.UTF-8", 0o077))):
        folder = tmp_path / str(number)
        folder.mkdir()
        environment = {**os.environ, "TZ": zone, "LC_ALL": words, "PYTHONHASHSEED": str(number + 1)}
        seen.add(run(sys.executable, "-c", script, cwd=folder, env=environment, umask=mask))
    assert len(seen) == 1


def command_of(build: Path, object_file: str) -> str:
    """How ninja compiles it, without a cache."""
    lines = run("ninja", "-C", build, "-t", "commands", object_file).splitlines()
    [line] = [line for line in lines if f" -o {object_file} " in line]
    return re.sub(r"^\S*cmake -E env .*?ccache ", "", line)


@pytest.mark.rotating(20)
def test_an_object_depends_on_no_folder(tmp_path):
    """The stage of a whole build that a commit has time for: one object, compiled in two folders."""
    build = BINARY.parent
    object_file = "certs/CMakeFiles/truce_certs.dir/Unity/unity_0_cxx.cxx.o"
    command = command_of(build, object_file)
    other = tmp_path / "elsewhere/with/a/longer/name"
    for name in run("git", "ls-files", "*.h", "*.cc", cwd=REPOSITORY).split():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_bytes((REPOSITORY / name).read_bytes())
    header = Path(re.search(r"-include (\S+)", command)[1])
    for file in (header, header.with_name(header.name + ".gch"), *(build / object_file).parent.glob("*.cxx")):
        copy = other / file.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        data = file.read_bytes()
        copy.write_bytes(data if file.suffix == ".gch" else data.replace(bytes(REPOSITORY), bytes(other)))
    made = []
    for root in (REPOSITORY, other):
        target = root / build.relative_to(REPOSITORY) / "one-object.o"
        here = command.replace(f" -o {object_file} ", f" -o {target} ").replace(str(REPOSITORY), str(root))
        here = re.sub(r" -M[TF] \S+| -MD", "", here)
        run("bash", "-c", here, cwd=target.parent)
        made.append(target.read_bytes())
        target.unlink()
    assert made[0] == made[1] and b"../" not in made[0]


# The image


def test_image_layout_says_of_itself_what_is_true(dist, layout):
    for digest, data in layout.blobs().items():
        assert hashlib.sha256(data).hexdigest() == digest
    assert layout.config["rootfs"]["diff_ids"] == [
        "sha256:" + hashlib.sha256(gzip.decompress(layout.blob(layer))).hexdigest()
        for layer in layout.manifest["layers"]]
    said = layout.config["config"]
    assert said["User"] == "65532:65532"
    assert said["Entrypoint"] == ["/usr/local/bin/truce", "serve"]
    for label in ("version", "revision", "source", "licenses", "title", "created"):
        assert said["Labels"][f"org.opencontainers.image.{label}"]
    assert layout.index["manifests"][0]["annotations"]["io.containerd.image.name"] == f"{IMAGE}:{VERSION}"


def test_image_holds_what_is_needed_and_nothing_to_work_with(layout, tmp_path):
    root = tmp_path / "root"
    layout.unpack(root)
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < IMAGE_BYTES_MAX
    programs = [path for path in files if path.stat().st_mode & 0o111 and ".so" not in path.name]
    assert [str(path.relative_to(root)) for path in programs] == ["usr/local/bin/truce"]
    assert not [path for path in root.rglob("*") if path.lstat().st_mode & 0o6000]
    assert (root / "etc/ssl/certs/ca-certificates.crt").read_text().count("BEGIN CERTIFICATE") > 100
    assert (root / "usr/share/zoneinfo/Europe/Berlin").read_bytes().startswith(b"TZif")
    data = (root / image.DATA).stat()
    assert (data.st_uid, data.st_mode & 0o777) == (image.USER, 0o700)
    # As scanners of images look for packages.
    assert "Package: libssl3" in (root / "var/lib/dpkg/status.d/libssl3").read_text()


@pytest.fixture(scope="module")
def default_list(tmp_path_factory) -> dict:
    """What container engines let a container call that asks for nothing: the list of Debian's package."""
    [package] = packages.fetch(["golang-github-containers-common"], REPOSITORY / "build/packages")
    listed = json.loads(packages.files_of(package)["usr/share/containers/seccomp.json"].data)
    return system_calls(listed)


@pytest.fixture
def container(layout, tmp_path):
    started = []

    def make(seccomp: dict | None) -> Container:
        ports = {name: free_port() for name in ("admissionPort", "apiPort", "metricsPort", "probesPort")}
        objects = Helm(4, tmp_path).objects({"watchCluster": False, "certificates": {"mode": "selfManaged"},
                                             "webhook": {"enabled": False}, "config": {"drainGrace": "0s"},
                                             "listen": {"host": "127.0.0.1", **ports}})
        held = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        made = Container(tmp_path / "pod", layout, seccomp)
        made.mount(held["Deployment", "truce"]["spec"]["template"], lambda kind, name: held[kind, name])
        made.ports = ports
        started.append(made)
        return made

    yield make
    for each in started:
        each.kill()


def is_ready(made: Container) -> bool:
    assert made.exit_code is None, made.logs()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", made.ports["probesPort"], timeout=2)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def test_image_runs_as_the_charts_pod_under_the_default_list(container, default_list):
    made = container(default_list)
    made.start()
    wait_for(lambda: is_ready(made), 30, "the container is ready")
    status = made.status()
    assert status["Uid"].split() == ["65532"] * 4 and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2"
    assert {status[kind] for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert made.stop() == 0, made.logs()
    # A second start finds the registry on its volume.
    made.start()
    wait_for(lambda: is_ready(made), 30, "the container is ready again")
    assert made.stop() == 0, made.logs()


def own_list(action: str) -> dict:
    """The list that the chart publishes; `action` meets what it does not have."""
    listed = json.loads((SERVER_CHART / "files/seccomp.json").read_text())
    return {**listed, "defaultAction": action, "architectures": ["SCMP_ARCH_X86_64"]}


def test_image_runs_under_its_own_narrower_list(container, default_list):
    # A call outside of it ends the process at once.
    narrow = own_list("SCMP_ACT_KILL_PROCESS")
    narrow.pop("defaultErrnoRet")
    everything = {name for rule in default_list["syscalls"] for name in rule["names"]}
    assert {name for rule in narrow["syscalls"] for name in rule["names"]} < everything
    made = container(narrow)
    for turn in range(2):
        made.start()
        wait_for(lambda: is_ready(made), 30, "the container is ready")
        data = made.volume("data")
        for command in (("list",), ("backup", str(made.directory / f"copy{turn}.db")), ("doctor",), ("denials",)):
            assert subprocess.run([BINARY, *command, "--data-dir", data], capture_output=True).returncode in (0, 1)
        assert made.stop() == 0, made.logs()


def test_the_own_list_has_the_newer_call_beside_each_older():
    """Which is the only one that arm64 has."""
    [rule] = own_list("SCMP_ACT_ERRNO")["syscalls"]
    assert [newer for older, newer in seccomp.NEWER.items() if older in rule["names"] and newer not in rule["names"]] == []


def test_a_call_outside_of_the_own_list_ends_it(container):
    narrow = own_list("SCMP_ACT_KILL_PROCESS")
    narrow.pop("defaultErrnoRet")
    [rule] = narrow["syscalls"]
    rule["names"] = [name for name in rule["names"] if name != "listen"]
    made = container(narrow)
    made.start()
    wait_for(lambda: made.exit_code is not None, 30, "the container was ended")
    assert made.exit_code != 0 and "listening" not in made.logs()


def test_a_list_that_lacks_a_call_is_in_force(container, default_list):
    for rule in default_list["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name != "listen"]
    made = container(default_list)
    made.start()
    wait_for(lambda: made.exit_code is not None, 30, "the container gave up")
    assert made.exit_code != 0
