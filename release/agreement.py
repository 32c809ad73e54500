"""What must say the same version before anything is released."""

from __future__ import annotations

import re

import charts
from packages import ReleaseError, run

ROOT = charts.ROOT


def version() -> str:
    found = re.search(r"^\s+VERSION (\d+\.\d+\.\d+)$", (ROOT / "CMakeLists.txt").read_text(), re.M)
    if not found:
        raise ReleaseError("CMakeLists.txt: project() has no VERSION like 1.2.3")
    return found[1]


def tag() -> str:
    """The tag of a version that HEAD carries, or ""."""
    tags = run("git", "tag", "--points-at", "HEAD", cwd=ROOT).split()
    return next((each for each in sorted(tags) if re.match(r"v\d", each)), "")


def disagreements(wanted: str, carried: str) -> list[str]:
    """One line for each place that says another version than `wanted` (CMakeLists.txt); each with its remedy.
    `carried` is HEAD's tag."""
    found = []
    for chart in charts.CHARTS:
        for name in ("version", "appVersion"):
            has = charts.field(chart, name)
            if has != wanted and (has or name == "version"):
                found.append(f"charts/{chart}/Chart.yaml: {name} is {has or 'missing'}, not {wanted}")
    section = re.search(rf"^## \[{re.escape(wanted)}\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    if not section:
        found.append(f"CHANGELOG.md: no section '## [{wanted}] - YYYY-MM-DD'")
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", section[1]) and (carried or section[1] != "unreleased"):
        found.append(f"CHANGELOG.md: the section of {wanted} has no date but '{section[1]}'")
    if carried and carried != f"v{wanted}":
        found.append(f"the commit carries the tag {carried}, not v{wanted}")
    dependency = re.search(r"- name: truce-check\n\s+version: (\S+)",
                           (ROOT / "charts/truce-presync/Chart.yaml").read_text())
    if not dependency or dependency[1] != charts.field("truce-check", "version"):
        found.append("charts/truce-presync/Chart.yaml: depends on another version of truce-check")
    return found
