#!/usr/bin/env python3
"""Checks the rules of style that no compiler checks. Prints file:line: rule; exit 1 on a finding.

  style.py              the whole repository
  style.py --self-test  each rule finds its own bad example
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS_MAX = 100
FILE_BYTES_MAX = 300_000  # the catalogue has 206,000

CODE = (".cc", ".h", ".py", ".sh", ".cmake")
# Files that name the forbidden words because they look for them.
EXEMPT = {".tools/style.py"}
# The only places that may wait by the clock: loops that poll a condition until a deadline.
MAY_SLEEP = ("tests/support/",)

# rule, files it holds for, pattern of a violation, example of one
PATTERNS = [
    ("no TODO or FIXME", CODE + (".md", ".txt", ".yaml"), r"\b(TODO|FIXME|XXX)\b", "// TODO: later"),
    ("no trailing white space", CODE, r"[ \t]+$", "int a; "),
    ("no tab", CODE, r"\t", "\tint a;"),
    ("no skipped test", (".cc", ".h", ".py"),
     r"\b(GTEST_SKIP|DISABLED_\w+|pytest\.skip|mark\.skip|mark\.xfail|importorskip)\b",
     "GTEST_SKIP();"),
    ("clang 14 cannot compile it", (".cc", ".h"),
     r"\bstd::(views::|ranges::views|source_location|expected\b|format\(|print\()", "std::views::all"),
    ("no using namespace", (".cc", ".h"), r"^\s*using namespace (?!std::(chrono_)?literals)",
     "using namespace std;"),
    ("includes start at the root of the repository", (".cc", ".h"), r'#include "\.\.?/',
     '#include "../a.h"'),
    ("third-party headers only in .cc files", (".h",),
     r"#include <(httplib\.h|nlohmann/(?!json_fwd)|simdjson|spdlog/|fmt/|sqlite3\.h|CLI/|yaml\.h|re2/)",
     "#include <httplib.h>"),
]
# A unit test that looks for a piece of a text for people: there is a value beside it (a rule, a code, a field), or
# the whole text is compared. That a text does not hold something may be looked for.
PIECE_OF_A_TEXT = re.compile(
    r"\b(?:EXPECT|ASSERT)_(?:NE|TRUE)\(\s*[^;]*?\b(?:message|cause|remedy|evidence|note|problem|reason|why|warnings\[\d\])"
    r"(?:\(\))?\s*\.(?:find|starts_with|ends_with)\(")
# There the texts are those of the JSON parser, in our words as far as it tells.
MAY_LOOK_FOR_PIECES = {"tests/unit/codec_contract_test.cc"}
# A comment names the thing: no subject "what" or "who", but in questions.
SUBJECT = re.compile(r"(?:^|[.?!]) +(?:What|Who|Whose)\b(?![^.?!]*\?)")
NAMES_THINGS = ("registry/", "policies/", "webhook/", "certs/")
SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|time\.sleep)\s*\(|^\s*sleep \d")
BAD_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "utility"}
SECRETS_OF_THE_DESK = re.compile(r"(?<![\w/])/(work|root)/\w")


def repository_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return sorted(name for name in listed if (ROOT / name).is_file())


def check_lines(name: str, lines: list[str]) -> list[str]:
    found = []
    for number, line in enumerate(lines, 1):
        for rule, suffixes, pattern, _ in PATTERNS:
            if name.endswith(suffixes) and re.search(pattern, line):
                found.append(f"{name}:{number}: {rule}")
        if name.startswith("tests/") and not name.startswith(MAY_SLEEP) and name.endswith(CODE):
            if SLEEP.search(line):
                found.append(f"{name}:{number}: no sleep in tests: wait on a condition")
        # The formatter cannot break a literal or an address.
        if name.endswith((".cc", ".h")) and len(line) > COLUMNS_MAX and not re.search(r'"|://', line):
            found.append(f"{name}:{number}: longer than {COLUMNS_MAX} columns")
        if SECRETS_OF_THE_DESK.search(line):
            found.append(f"{name}:{number}: a path of one person's machine")
    return found


def check_file(name: str, lines: list[str]) -> list[str]:
    found = []
    # Sources of tests are compiled together: their names must not meet.
    if name.startswith("tests/") and name.endswith("_test.cc") and "namespace {" in lines:
        found.append(f"{name}:1: the namespace must be {Path(name).stem}, not unnamed")
    if name.startswith("tests/unit/") and name not in MAY_LOOK_FOR_PIECES:
        text = "\n".join(lines)
        found += [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: compare a value, or the whole text"
                  for match in PIECE_OF_A_TEXT.finditer(text)]
    if name.startswith(NAMES_THINGS) and name.endswith((".cc", ".h")):
        text = "\n".join(lines) + "\n"
        for block in re.finditer(r"(?:^[ \t]*//.*\n)+|//.*", text, re.MULTILINE):
            if SUBJECT.search(re.sub(r"\s*//\s*", " ", block.group())):
                line = text.count("\n", 0, block.start()) + 1
                found.append(f"{name}:{line}: a comment's subject is its thing, not what or who")
    if Path(name).stem in BAD_NAMES:
        found.append(f"{name}:1: the name says nothing")
    if name.endswith(".h"):
        guard = "TRUCE_" + re.sub(r"[/.\-]", "_", name).upper() + "_"
        if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
            found.append(f"{name}:1: header guard must be {guard}")
    return found


def check_targets(names: list[str]) -> list[str]:
    """Every C++ file belongs to a target of the CMakeLists.txt of its folder or one above."""
    lists = {str(Path(name).parent): (ROOT / name).read_text(encoding="utf-8")
             for name in names if Path(name).name == "CMakeLists.txt"}
    found = []
    for name in names:
        if not name.endswith((".cc", ".h")) or name == "tests/fuzz/replay_main.cc":
            continue
        path = Path(name)
        is_listed = any(
            re.search(rf"(?<![\w./]){re.escape(str(path.relative_to(parent)))}(?![\w.])", lists[str(parent)])
            or f"{path.parent.relative_to(parent)}/*{path.suffix})" in lists[str(parent)]
            for parent in path.parents if str(parent) in lists)
        # Headers of tests are part of the sources that include them.
        if not is_listed and not (name.startswith("tests/") and name.endswith(".h")):
            found.append(f"{name}:1: belongs to no target (list it in a CMakeLists.txt)")
    return found


def check_size(name: str, size: int) -> list[str]:
    return [f"{name}:1: {size:,} bytes: outputs and dumps stay out of git"] if size > FILE_BYTES_MAX else []


def check_type_names(names: list[str]) -> list[str]:
    """No two headers define a type of one name: the linker would take either of them for both."""
    first, found = {}, []
    for name in names:
        if not name.endswith(".h"):
            continue
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r"(?:struct|class|enum class) (\w+)\b(?!::|<)[^;]*\{", line)
            if match and first.setdefault(match.group(1), name) != name:
                found.append(f"{name}:{number}: {first[match.group(1)]} has a type {match.group(1)} too")
    return found


def check_single_includes(names: list[str]) -> list[str]:
    """Costly headers stay behind ours: spdlog in the log, CLI11 in the command line, and so on."""
    found = []
    for header, most in (("httplib.h", 2), ("spdlog/", 1), ("simdjson.h", 1), ("CLI/", 1)):
        users = [name for name in names if name.endswith(".cc")
                 and f"#include <{header}" in (ROOT / name).read_text(encoding="utf-8")]
        if len({str(Path(user)) for user in users}) > most:
            found.append(f"{users[-1]}:1: <{header}> is included by {', '.join(users)}; at most {most}")
    return found


def self_test() -> list[str]:
    failed = []
    for rule, suffixes, _, example in PATTERNS:
        if not any(rule in finding for finding in check_lines("registry/a" + suffixes[0], [example])):
            failed.append(f"rule '{rule}' does not find its example")
    if not check_lines("tests/unit/a_test.cc", ["std::this_thread::sleep_for(1s);"]):
        failed.append("the rule on sleep does not find its example")
    if not check_file("tests/unit/a_test.cc", ["namespace {"]):
        failed.append("the rule on namespaces of tests does not find its example")
    if not check_file("tests/unit/a_test.cc", ["  EXPECT_NE(answer.message.find(\"owned\"), std::string::npos);"]):
        failed.append("the rule on pieces of texts does not find its example")
    if not check_file("registry/a.cc", ["// One.", "// What a row has: two."]):
        failed.append("the rule on subjects of comments does not find its example")
    if check_file("registry/a.cc", ["// What holds it", "// up?"]):
        failed.append("the rule on subjects of comments finds a question")
    if not check_size("tests/core", FILE_BYTES_MAX + 1):
        failed.append("the rule on sizes of files does not find its example")
    if not check_file("registry/a.h", ["#ifndef A_H"]):
        failed.append("the rule on header guards does not find its example")
    return failed


def main() -> int:
    found = self_test()
    if "--self-test" not in sys.argv:
        names = repository_files()
        for name in names:
            found += check_size(name, (ROOT / name).stat().st_size)
            if name in EXEMPT or not name.endswith(CODE + (".md", ".txt", ".yaml", ".json")):
                continue
            lines = (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()
            found += check_lines(name, lines) + check_file(name, lines)
        found += check_targets(names) + check_single_includes(names) + check_type_names(names)
    for finding in found:
        print(finding)
    print(f"style: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
