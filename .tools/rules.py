#!/usr/bin/env python3
"""Holds the rules of the registry together: DESIGN.md defines each, code cites each, a test or mutant holds each.

Prints file:line: what is wrong; exit 1 on a finding.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("certs/", "policies/", "registry/", "webhook/")
RULE = re.compile(r"\b(E[1-9]|W[1-9]|N[1-9]|R[1-9]|I1?[0-9])\b")
ROW = re.compile(r"^\| ([EWNRI]\d+)(?:\\\*)? \|.*\| ([^|]*) \|$")
# The memory of another document: nobody can look it up.
ELSEWHERE = re.compile(r"\bdesign section|\bissue list|\bthe design's\b")


def comments(text: str) -> list[tuple[int, str]]:
    """The comments of C++: number and text of each line that has one."""
    return [(number, line.split("//", 1)[1]) for number, line in enumerate(text.splitlines(), 1) if "//" in line]


def main() -> int:
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names
             if name.endswith((".cc", ".h", ".py", ".patch")) and (ROOT / name).is_file()}
    tests = "\n".join(text for name, text in texts.items() if name.startswith("tests/"))

    defined, found = {}, []
    for number, line in enumerate((ROOT / "DESIGN.md").read_text(encoding="utf-8").splitlines(), 1):
        row = ROW.match(line)
        if not row:
            continue
        rule, held_by = row.groups()
        if rule in defined:
            found.append(f"DESIGN.md:{number}: {rule} is defined twice")
        defined[rule] = number
        if not re.search(r"`[^`]+`|[a-z]\d+-", held_by):
            found.append(f"DESIGN.md:{number}: no test or mutant fails without {rule}")
        for word in re.findall(r"`([^`]+)`", held_by):
            if word not in tests and not any(Path(name).name == word for name in texts):
                found.append(f"DESIGN.md:{number}: no test is called {word}")
        for word in re.findall(r"\b[a-z]\d+(?:-[a-z]+)+\b", held_by):
            if f"tests/mutants/{word}.patch" not in texts:
                found.append(f"DESIGN.md:{number}: tests/mutants has no {word}.patch")

    cited = set()
    for name, text in texts.items():
        if not name.startswith(PRODUCT):
            continue
        for number, comment in comments(text):
            if ELSEWHERE.search(comment):
                found.append(f"{name}:{number}: a design that is not in this repository: cite a rule of DESIGN.md")
            found += [f"{name}:{number}: DESIGN.md defines no rule {rule}"
                      for rule in RULE.findall(comment) if rule not in defined]
        cited.update(RULE.findall(text))
    found += [f"DESIGN.md:{number}: no code cites {rule}" for rule, number in defined.items() if rule not in cited]

    for finding in found:
        print(finding)
    print(f"rules: {len(defined)} defined, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
