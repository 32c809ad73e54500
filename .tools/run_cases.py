#!/usr/bin/env python3
"""Runs the GoogleTest cases of a sanitizer build, many in a process where that is allowed.

  run_cases.py BUILD_FOLDER LABELS REPORT [JOBS]

LABELS as for ctest, with | between them; REPORT is written as JUnit XML. Cases of the labels in SHARED run
up to CASES_PER_PROCESS in one process, because a process costs more than most cases when a sanitizer
sets it up; all others run alone, as they all do under ctest.

A process that ends without having told of all its cases fails the one that it was in, and the others
run again, each alone. A process that fails although its cases passed (a leak) has them run again, each
alone, and fails all of them when none of them is to blame by itself.

Of the cases whose name begins with "Rotating" a share runs, which $ROTATE picks; all without it. So too
inside an entry of ctest that is many cases.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

SHARED = {"unit", "contract"}
CASES_PER_PROCESS = 40
SHARES = 4
FILTER = "--gtest_filter="


@dataclass
class Case:
    name: str
    command: list[str]
    label: str
    folder: str
    seconds_max: float
    filter: str = ""  # GoogleTest's name of it; "" for another kind of program, or many cases at once
    seconds: float = 0
    failure: str | None = "did not run"

    @property
    def rotating(self) -> bool:
        return self.filter.startswith("Rotating")


@dataclass
class Outcome:
    """What a process did: how it ended, what it printed, and what its report says of its cases."""

    code: int | None  # None: it took too long
    output: str
    told: dict[str, tuple[float, str | None]] = field(default_factory=dict)

    @property
    def ending(self) -> str:
        return "took too long" if self.code is None else f"ended with {self.code}"


def cases_of(folder: Path, labels: str) -> list[Case]:
    listed = subprocess.run(
        ["ctest", "--test-dir", str(folder), "--show-only=json-v1", "-L", f"^({labels})$"],
        check=True, capture_output=True, text=True).stdout
    cases = []
    for test in json.loads(listed)["tests"]:
        of = {one["name"]: one["value"] for one in test.get("properties", [])}
        case = Case(test["name"], test.get("command", []), of["LABELS"][0],
                    of["WORKING_DIRECTORY"], float(of["TIMEOUT"]))
        if of.get("DISABLED"):
            case.failure = "is disabled"
        elif not case.command:
            case.failure = "is not built"
        for argument in case.command:
            if argument.startswith(FILTER) and "*" not in argument:
                case.filter = argument.removeprefix(FILTER)
        cases.append(case)
    return cases


def of_share(rotating: list, share: int) -> list:
    return [one for at, one in enumerate(rotating) if at % SHARES == share]


def leave_share(case: Case, share: int) -> None:
    """Of the rotating cases that its pattern matches only those of the share."""
    listed = subprocess.run([*case.command, "--gtest_list_tests"], cwd=case.folder, check=True,
                            capture_output=True, text=True).stdout
    suite, rotating = "", []
    for line in listed.splitlines():
        name = line.partition("#")[0]
        if not line.startswith(" "):
            suite = name.strip()
        elif suite.startswith("Rotating"):
            rotating.append(suite + name.strip())
    left_out = set(rotating) - set(of_share(rotating, share))
    if left_out:
        case.command = [part + "-" + ":".join(sorted(left_out)) if part.startswith(FILTER) else part
                        for part in case.command]


def processes_of(cases: list[Case]) -> list[list[Case]]:
    """Which cases run together. What runs alone comes first: it is what takes long."""
    alone, together = [], {}
    for case in cases:
        if case.filter and case.label in SHARED:
            together.setdefault(case.command[0], []).append(case)
        else:
            alone.append([case])
    alone.sort(key=lambda group: -group[0].seconds_max)
    return alone + [group[at:at + CASES_PER_PROCESS] for group in together.values()
                    for at in range(0, len(group), CASES_PER_PROCESS)]


def start(cases: list[Case]) -> Outcome:
    """Runs these cases in one process."""
    first = cases[0]
    with tempfile.TemporaryDirectory(prefix="truce-cases-") as folder:
        report = Path(folder) / "report.xml"
        command = first.command
        if first.filter:
            command = [first.command[0], FILTER + ":".join(case.filter for case in cases),
                       f"--gtest_output=xml:{report}"]
        try:
            done = subprocess.run(command, cwd=first.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=first.seconds_max, check=False)
        except subprocess.TimeoutExpired as late:
            return Outcome(None, (late.stdout or b"").decode(errors="replace"))
        outcome = Outcome(done.returncode, done.stdout.decode(errors="replace"))
        if first.filter:
            outcome.told = told_in(report)
        elif outcome.code == 0:
            outcome.told = {"": (0, None)}
        return outcome


def told_in(report: Path) -> dict[str, tuple[float, str | None]]:
    """Name of each case that ran to its end → seconds, and its failure."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return {}
    told = {}
    for one in root.iter("testcase"):
        bad = [part.get("message") or part.tag for part in one if part.tag in ("failure", "skipped")]
        if one.get("status") != "run" or one.get("result") != "completed":
            bad.append(f"{one.get('status')}, {one.get('result')}")
        told[f"{one.get('classname')}.{one.get('name')}"] = (
            float(one.get("time") or 0), "\n".join(bad) or None)
    return told


def run(cases: list[Case]) -> list[str]:
    """Runs these cases and fills in what became of them. Returns what to show."""
    began = time.monotonic()
    outcome = start(cases)
    for case in cases:
        if case.filter in outcome.told:
            case.seconds, case.failure = outcome.told[case.filter]
    if len(cases) == 1:
        [case] = cases
        case.seconds = time.monotonic() - began
        if case.filter not in outcome.told or (outcome.code != 0 and not case.failure):
            case.failure = outcome.ending
    elif missing := [case for case in cases if case.filter not in outcome.told]:
        # GoogleTest writes its report at the end only.
        begun = re.findall(r"\[ RUN      \] (\S+)", outcome.output)
        guilty = [case for case in missing if begun and case.filter == begun[-1]] or missing[:1]
        guilty[0].failure = f"its process {outcome.ending} while it ran"
        again = [case for case in missing if case is not guilty[0]]
        return told_of(guilty, outcome.output) + [line for case in again for line in run([case])]
    elif outcome.code != 0 and not any(case.failure for case in cases):
        shown = [line for case in cases for line in run([case])]
        if not any(case.failure for case in cases):
            for case in cases:
                case.failure = f"one of {len(cases)} that passed in a process that {outcome.ending}"
            shown += told_of(cases, outcome.output)
        return shown
    return told_of([case for case in cases if case.failure], outcome.output)


def told_of(failed: list[Case], output: str) -> list[str]:
    if not failed:
        return []
    return [output.rstrip()] + [f"FAILED {case.name}: {case.failure}" for case in failed]


def write_report(cases: list[Case], path: Path) -> None:
    suite = ElementTree.Element("testsuite", tests=str(len(cases)))
    for case in cases:
        one = ElementTree.SubElement(suite, "testcase", name=case.name, time=f"{case.seconds:.3f}")
        if case.failure:
            printable = re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", case.failure)
            ElementTree.SubElement(one, "failure", message=printable[:1000])
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main(folder: str, labels: str, report: str, jobs: str = "") -> int:
    cases = cases_of(Path(folder), labels)
    share = os.environ.get("ROTATE", "all")
    if share != "all":
        rotating = [case for case in cases if case.rotating]
        kept = of_share(rotating, int(share))
        left_out = {id(case) for case in rotating} - {id(case) for case in kept}
        cases = [case for case in cases if id(case) not in left_out]
        for case in cases:
            if any(part.startswith(FILTER) and "*" in part for part in case.command):
                leave_share(case, int(share))
        print(f"rotating cases: share {share} of 0 to {SHARES - 1}, by HEAD's tree, is "
              f"{len(kept)} of {len(rotating)}; ROTATE=all runs all of them")
    groups = processes_of([case for case in cases if case.command and case.failure == "did not run"])
    print(f"{len(cases)} cases, in {len(groups)} processes", flush=True)
    with ThreadPoolExecutor(int(jobs or os.cpu_count() or 1)) as pool:
        for shown in pool.map(run, groups):
            for line in shown:
                print(line, flush=True)
    failed = [case for case in cases if case.failure]
    write_report(cases, Path(report))
    print(f"{len(cases) - len(failed)} of {len(cases)} passed")
    return 0 if cases and not failed else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
