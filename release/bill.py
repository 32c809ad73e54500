"""Bills of materials (SBOM): CycloneDX 1.5 and SPDX 2.3, of the same list of components."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import image
import packages
from packages import Package, ReleaseError

ROOT = Path(__file__).resolve().parent.parent
DEPS = ROOT / "build/deps"
# By Debian's source package.
LICENCES = {
    "truce": "Apache-2.0", "openssl": "Apache-2.0", "re2": "BSD-3-Clause", "spdlog": "MIT", "libyaml": "MIT",
    "simdjson": "Apache-2.0", "jemalloc": "BSD-2-Clause", "fmtlib": "MIT", "nlohmann-json3": "MIT",
    "cli11": "BSD-3-Clause", "cpp-httplib": "MIT", "sqlite3": "blessing", "ca-certificates": "MPL-2.0",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "gcc-14": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later", "preact": "MIT",
    # What PostgreSQL's library needs.
    "postgresql-15": "PostgreSQL", "postgresql-17": "PostgreSQL", "krb5": "MIT", "openldap": "OLDAP-2.8",
    "cyrus-sasl2": "BSD-3-Clause-Attribution", "e2fsprogs": "MIT", "keyutils": "LGPL-2.1-or-later",
    "gnutls28": "LGPL-2.1-or-later", "p11-kit": "BSD-3-Clause", "libtasn1-6": "LGPL-2.1-or-later",
    "libidn2": "LGPL-3.0-or-later OR GPL-2.0-or-later", "libunistring": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "nettle": "LGPL-3.0-or-later OR GPL-2.0-or-later", "gmp": "LGPL-3.0-or-later OR GPL-2.0-or-later",
    "libffi": "MIT",
}
# Libraries that are all headers: part of the program, and no package of the image.
HEADERS_ONLY = ("nlohmann-json3-dev", "libcli11-dev")
# What is compiled in: folder of build/deps, Debian's source package, files. What the page stands on is npm's.
COMPILED_IN = {"httplib": ("cpp-httplib", ("httplib.h", "httplib.cc")), "sqlite": ("sqlite3", ("sqlite3.h", "sqlite3.c")),
               "preact": ("preact", ("preact.min.umd.js", "hooks.umd.js"))}
OF_NPM = ("preact",)


@dataclass(frozen=True)
class Component:
    name: str
    version: str
    purl: str
    how: str       # linked, compiled in, or base: only in the image
    sha256: str    # of the package it came in
    source: str    # name of Debian's source package
    homepage: str
    files: tuple[tuple[str, str], ...]  # name and SHA-256 of those that were used


# What a build elsewhere leaves for the bills of the whole release.
PART = ".components.json"


def part(components: list[Component]) -> bytes:
    return json.dumps([vars(each) for each in components], indent=2, sort_keys=True).encode()


def together(components: list[Component], parts: list[bytes]) -> list[Component]:
    """`components`, and those of the parts that are not among them: some packages are for every architecture."""
    every = {each.purl: each for each in components}
    for text in parts:
        for fields in json.loads(text):
            fields["files"] = tuple(map(tuple, fields["files"]))
            every.setdefault(fields["purl"], Component(**fields))
    return list(every.values())


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def purl(package: Package, release: str) -> str:
    version = quote(package.version, safe=".-_")
    return f"pkg:deb/debian/{quote(package.name)}@{version}?arch={package.architecture}&distro=debian-{release}"


def of_packages(needed: list[Package], release: str) -> list[Component]:
    made = []
    for package in needed:
        contents = packages.files_of(package)
        used = {path.rpartition("/")[2]: path for path in contents if path.startswith("usr/lib")}
        files = []
        for soname in package.sonames:
            member = contents[used[soname]]
            if member.link:
                member = contents[used[member.link.rpartition("/")[2]]]
            files.append((soname, sha256(member.data)))
        made.append(Component(package.name, package.version, purl(package, release),
                              "base" if package.name in image.BASE_PACKAGES else "linked", package.sha256,
                              package.source, package.homepage, tuple(files)))
    return made


def of_headers(folder: Path, release: str) -> list[Component]:
    return [Component(package.name, package.version, purl(package, release), "compiled in", package.sha256,
                      package.source, package.homepage, ())
            for package in packages.fetch(list(HEADERS_ONLY), folder)]


def of_sources(trial: bool) -> list[Component]:
    """cpp-httplib, SQLite and preact, from the sources that .tools/sources.sh accepted."""
    made = []
    for folder, (name, files) in COMPILED_IN.items():
        record = DEPS / folder / "SOURCE"
        if not record.is_file() and not trial:
            raise ReleaseError(f"{record.relative_to(ROOT)} is missing, so nobody knows where it came from: "
                               f"rm -r build/deps && .tools/sources.sh --locked")
        text = record.read_text() if record.is_file() else f"{name}\t{version_in(DEPS / folder / files[0])}\t"
        _, version, of_source = text.rstrip("\n").split("\t")
        hashes = tuple((file, sha256((DEPS / folder / file).read_bytes())) for file in files)
        at = quote(version, safe=".-_")
        where = f"pkg:npm/{name}@{at}" if name in OF_NPM else f"pkg:deb/debian/{name}@{at}?arch=source"
        made.append(Component(name, version, where, "compiled in", of_source, name, "", hashes))
    return made


def version_in(header: Path) -> str:
    found = re.search(r'^#define (?:CPPHTTPLIB|SQLITE)_VERSION +"([\d.]+)"', header.read_text(errors="replace"), re.M)
    return found[1] if found else "unknown"


def cyclonedx(components: list[Component], *, version: str, commit: str, created: str) -> dict:
    own = f"pkg:generic/truce@{version}"
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, own + commit)}",
        "metadata": {
            "timestamp": created,
            "component": {"type": "application", "bom-ref": own, "name": "truce", "version": version, "purl": own,
                          "licenses": [{"license": {"id": "Apache-2.0"}}],
                          "properties": [{"name": "truce:commit", "value": commit}]},
        },
        "components": [{
            "type": "library", "bom-ref": each.purl, "name": each.name, "version": each.version, "purl": each.purl,
            **({"hashes": [{"alg": "SHA-256", "content": each.sha256}]} if each.sha256 else {}),
            **_cyclonedx_licence(each.source),
            **({"externalReferences": [{"type": "website", "url": each.homepage}]} if each.homepage else {}),
            "properties": [{"name": "truce:how", "value": each.how}, {"name": "truce:source", "value": each.source},
                           *({"name": f"truce:sha256:{file}", "value": digest} for file, digest in each.files)],
        } for each in components],
        "dependencies": [{"ref": own, "dependsOn": [each.purl for each in components if each.how != "base"]}],
    }


def _cyclonedx_licence(source: str) -> dict:
    licence = LICENCES.get(source, "")
    if not licence:
        return {}
    return {"licenses": [{"expression": licence} if " " in licence else {"license": {"id": licence}}]}


RELATIONS = {"linked": "DYNAMIC_LINK", "compiled in": "STATIC_LINK", "base": "CONTAINS"}


def spdx(components: list[Component], *, version: str, commit: str, created: str) -> dict:
    def package(name: str, at: str, number: str, source: str, sha: str, url: str, comment: str) -> dict:
        licence = LICENCES.get(source, "NOASSERTION")
        return {"SPDXID": number, "name": name, "versionInfo": at, "downloadLocation": "NOASSERTION",
                "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
                "copyrightText": "NOASSERTION", "comment": comment,
                **({"checksums": [{"algorithm": "SHA256", "checksumValue": sha}]} if sha else {}),
                "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": url}]}

    numbered = [(f"SPDXRef-{number}", each) for number, each in enumerate(components, 1)]
    own = "SPDXRef-truce"
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"truce-{version}",
        "documentNamespace": f"https://truce.dev/spdx/truce-{version}-{commit}",
        "creationInfo": {"created": created, "creators": ["Tool: truce-release"]},
        "packages": [package("truce", version, own, "truce", "", f"pkg:generic/truce@{version}", f"commit {commit}"),
                     *(package(each.name, each.version, number, each.source, each.sha256, each.purl,
                               "; ".join([each.how, *(f"{file} sha256:{digest}" for file, digest in each.files)]))
                       for number, each in numbered)],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own},
            *({"spdxElementId": own, "relationshipType": RELATIONS[each.how], "relatedSpdxElement": number}
              for number, each in numbered)],
    }
