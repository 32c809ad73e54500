#!/usr/bin/env python3
"""Matches a bill of materials against the known vulnerabilities of .tools/advisories.tsv: exit 1 and one line for
each that is there and not judged, or whose judgement nothing guards any more.

  audit.py FILE.cdx.json [ADVISORIES.tsv]
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ADVISORIES = ROOT / ".tools/advisories.tsv"
VERDICTS = {"fixed", "guarded", "unreachable", "open"}


@dataclass(frozen=True)
class Advisory:
    id: str
    component: str
    versions: str
    verdict: str
    why: str
    tests: str


def read(file: Path) -> tuple[list[Advisory], list[str]]:
    """The advisories, and a line for each that cannot be read."""
    found, wrong = [], []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 6 or not all(field.strip() for field in fields[:4]):
            wrong.append(f"{file.name}:{number}: needs id, component, versions, verdict, why and tests, with tabs between")
        elif fields[3] not in VERDICTS:
            wrong.append(f"{file.name}:{number}: the verdict is '{fields[3]}', not one of {', '.join(sorted(VERDICTS))}")
        elif not re.fullmatch(r"\*|<[\d.]+", fields[2]):
            wrong.append(f"{file.name}:{number}: versions are '{fields[2]}', not '<1.2.3' or '*'")
        else:
            found.append(Advisory(*fields))
    return found, wrong


def upstream(version: str) -> list[int]:
    """The numbers of "1:0.41.0+ds-3": 0, 41, 0."""
    number = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version)
    return [int(part) for part in number[1].split(".")] if number else []


def has_it(advisory: Advisory, version: str) -> bool:
    numbers = upstream(version)
    # Where nobody knows the version, it is taken to have everything.
    return advisory.versions == "*" or not numbers or numbers < upstream(advisory.versions[1:])


def unguarded(advisory: Advisory) -> list[str]:
    """Tests that it names and that are not there."""
    missing = []
    for test in advisory.tests.split():
        file, _, name = test.partition(":")
        path = ROOT / file
        if not path.is_file() or not re.search(rf"\b{re.escape(name)}", path.read_text(encoding="utf-8")):
            missing.append(test)
    return missing


def findings(components: dict[str, str], advisories: list[Advisory]) -> list[str]:
    """`components`: version by Debian's source package."""
    found = []
    for each in advisories:
        version = components.get(each.component)
        if version is None:
            continue
        where = f"{each.id} in {each.component} {version}"
        if has_it(each, version) and each.verdict in ("open", "fixed"):
            found.append(f"{where}: " + ("is not judged yet" if each.verdict == "open" else
                         f"called fixed, but versions {each.versions} have it; take a newer one, or judge it anew"))
        elif has_it(each, version) and not each.tests.strip():
            found.append(f"{where}: {each.verdict}, and no test guards it")
        found += [f"{where}: its test {test} is not there" for test in unguarded(each)]
    return found


def components_of(bill: dict) -> dict[str, str]:
    named = {}
    for each in bill["components"]:
        properties = {entry["name"]: entry["value"] for entry in each["properties"]}
        named[properties["truce:source"]] = each["version"]
    return named


def audit(bill: dict, file: Path = ADVISORIES) -> list[str]:
    advisories, wrong = read(file)
    return wrong + findings(components_of(bill), advisories)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        bill = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"audit: no bill of materials: {error}; `make release` makes one in build/dist", file=sys.stderr)
        return 2
    found = audit(bill, *map(Path, sys.argv[2:]))
    for line in found:
        print(f"audit: {line}")
    print(f"audit: {len(found)} to judge or mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
