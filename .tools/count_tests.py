#!/usr/bin/env python3
"""Adds up the JUnit reports of ctest and pytest.

  count_tests.py --line FILE            one line for one report; nothing without a report
  count_tests.py --slowest FOLDER       the ten slowest tests of all reports
  count_tests.py FOLDER [FAILED_STAGE]  all reports, closing with "N passed, N failed"

Exit code 1 when a test failed. A skipped test counts as failed. So does a failed stage whose report shows no failure (it has none,
or it broke before or after its tests).
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(report: Path) -> tuple[int, int, list[str]]:
    """Returns (passed, failed, names of the failed)."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 0, []
    passed, failed = 0, []
    for case in root.iter("testcase"):
        bad = any(case.find(tag) is not None for tag in ("failure", "error", "skipped"))
        bad = bad or case.get("status") in ("fail", "disabled", "notrun")
        if bad:
            failed.append(case.get("name", "?"))
        else:
            passed += 1
    return passed, len(failed), failed


def slowest(folder: Path) -> list[str]:
    """Returns a line for each of the ten slowest tests, the slowest first."""
    times = []
    for report in folder.glob("*.xml"):
        try:
            cases = ElementTree.parse(report).getroot().iter("testcase")
        except (OSError, ElementTree.ParseError):
            continue
        for case in cases:
            # ctest adds the bytes of a parameter that cannot be printed.
            name = case.get("name", "?").split("  #")[0]
            times.append((float(case.get("time") or 0), report.stem, name))
    return [f"{seconds:6.1f} s  {stage:8} {name}" for seconds, stage, name in sorted(times)[:-11:-1]]


def main(arguments: list[str]) -> int:
    if arguments[0] == "--slowest":
        print("\n".join(slowest(Path(arguments[1]))))
        return 0
    if arguments[0] == "--line":
        passed, failed, names = count(Path(arguments[1]))
        if passed + failed:
            shown = ": " + " ".join(names[:5]) if names else ""
            print(f"{passed} passed, {failed} failed{shown}")
        return 1 if failed else 0
    folder, failed_stages = Path(arguments[0]), arguments[1:]
    reports = {report.stem: count(report) for report in folder.glob("*.xml")}
    passed = sum(p for p, _, _ in reports.values())
    failed = sum(f for _, f, _ in reports.values())
    failed += sum(1 for stage in failed_stages if not reports.get(stage, (0, 0, []))[1])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
