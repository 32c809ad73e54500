#!/usr/bin/env python3
"""Checks how the code hangs together. Prints file: what is wrong; exit 1 on a finding.

  structure.py          which folder includes which (the table of webhook/INCLUDES.md), without circles, and that every
                        function, constant and field of a header has a user in the product; how many ports with one
                        implementation there are, and settings that hold lists
  structure.py --table  the table as the code has it
"""

import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = "webhook/INCLUDES.md"

# What only tests use, and why it stands in the product all the same.
FOR_TESTS = {
    "observed_versions": "how many versions were applied; tests of unchanged lists count by it",
    "min_length": "the shorter limit of a name, beside max_length; tests walk both limits of every type",
}

# How much there is to know. Each number only falls: a change that lowers one writes it here.
PORTS_OF_ONE = 9         # abstract classes with one implementation in the product
OF_MANY_PORTS = 0        # classes that implement three abstract classes or more
FUNCTIONS_AS_PORT = 0    # structs of three or more functions
LISTS_AS_TEXT = 0       # values of many rows that a setting holds as one text
# Settings of one value each.
SINGLE_VALUES = {"AuditWitness", "Identity", "Slot", "StoreMark"}


def sources() -> dict[str, str]:
    """Every C++ file of the repository: its text without comments and literals."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.cc", "*.h"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in listed if (ROOT / name).is_file()}


def is_test(name: str) -> bool:
    return name.startswith("tests/")


def folders_included(files: dict[str, str]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for name, text in files.items():
        if is_test(name):
            continue
        folder = str(Path(name).parent)
        for header in re.findall(r'^#include "([^"]+)"', text, re.M):
            if (ROOT / header).is_file() and str(Path(header).parent) != folder:
                found[folder].add(str(Path(header).parent))
    return found


def is_one_room(a: str, b: str) -> bool:
    return a.startswith(b + "/") or b.startswith(a + "/")


def table_of(found: dict[str, set[str]]) -> list[str]:
    lines = ["| folder | includes headers of |", "|---|---|"]
    lines += [f"| `{folder}` | {', '.join(sorted(found[folder]))} |" for folder in sorted(found)]
    return lines


def check_includes(files: dict[str, str]) -> list[str]:
    """A new arrow between folders is a decision: it is entered in the table, or not made."""
    document = (ROOT / DOCUMENT).read_text(encoding="utf-8")
    allowed = {row[0]: {name.strip() for name in row[1].split(",")}
               for row in re.findall(r"^\| `([^`]+)` \| (.*) \|$", document, re.M)}
    found = folders_included(files)
    wrong = [f"{folder}: includes headers of {other}, which {DOCUMENT} does not list"
             for folder in found for other in sorted(found[folder] - allowed.get(folder, set()))]
    wrong += [f"{DOCUMENT}: {folder} includes nothing of {other} any more; take it out"
              for folder in allowed for other in sorted(allowed[folder] - found.get(folder, set()))]
    return wrong + [f"{folder}: a circle of folders: {' -> '.join(circle)}"
                    for folder, circle in circles(found)]


def circles(found: dict[str, set[str]]) -> list[tuple[str, list[str]]]:
    """The first circle that each folder is the least of. A folder and those inside of it are one room."""
    found = {folder: {other for other in others if not is_one_room(folder, other)}
             for folder, others in found.items()}
    out = []
    for start in sorted(found):
        paths = [[start]]
        seen = {start}
        while paths:
            path = paths.pop(0)
            nexts = found.get(path[-1], set())
            if start in nexts and len(path) > 1:
                if start == min(path):
                    out.append((start, path + [start]))
                break
            for other in sorted(nexts - seen):
                seen.add(other)
                paths.append(path + [other])
    return out


def counted(texts: list[str]) -> Counter:
    """How often each name stands there; of a name in small letters, as of an accessor, that it is called."""
    return Counter(word for text in texts for word in re.findall(r"\b(?:\w*[A-Z]\w*\b|[a-z]\w*\b(?=\())", text))


def declared(bare: dict[str, str]) -> tuple[Counter, dict[str, str]]:
    """How often the product declares and defines each name, and the header of the first declaration."""
    made, where = Counter(), {}
    for name, text in bare.items():
        if name.endswith(".cc"):
            made.update(re.findall(r"^[A-Za-z_][^;={}()\n]*?\b(?:\w+::)?(\w+)\(", text, re.M))
            continue
        for match in re.finditer(r"\b([A-Z]\w+(?=\()|[a-z]\w*(?=\(\)))\((?=[^;{]*[;{])", text):
            before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
            is_call = re.search(r"[=.]|->|^\s*(?:return|if|for|while|else|switch|[:,#])", before)
            # A call stands inside of braces of one line, or behind the name of a variable.
            if is_call or "{" in before or not before.strip():
                continue
            made[match.group(1)] += 1
            where.setdefault(match.group(1), name)
        for constant in re.findall(r"\bconstexpr [^=;(]*?\b(k[A-Z]\w+)\b", text):
            made[constant] += 1
            where.setdefault(constant, name)
    return made, where


def unread_fields(product: dict[str, str]) -> dict[str, str]:
    """Fields of headers that are only written: declared, assigned, or named where a value is made."""
    made, where = Counter(), {}
    for name, text in product.items():
        for field in re.findall(r"^ +[\w:<>,&* ]+ (\w+)(?: = [^;()]*|\{[^;]*\})?;", text, re.M):
            made[field] += 1
            if name.endswith(".h") and re.fullmatch(r"[a-z]\w*(?<!_)", field):
                where.setdefault(field, name)
    every = "\n".join(product.values())
    uses = Counter(re.findall(r"\b[a-z]\w*\b", every))
    writes = Counter(re.findall(r"(?<=[.>])([a-z]\w*)(?= ?= ?[^=]|\{)", every))
    return {field: name for field, name in where.items() if uses[field] - writes[field] <= made[field]}


def check_users(files: dict[str, str]) -> list[str]:
    """Names that stand in the product only where they are declared and defined. What only tests use lives with them."""
    bare = {name: re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//[^\n]*", "", text))
            for name, text in files.items()}
    product = {name: text for name, text in bare.items() if not is_test(name)}
    uses = counted(list(product.values()))
    in_tests = counted([text for name, text in bare.items() if is_test(name)])
    made, where = declared(product)
    unused = [name for name in sorted(where) if uses[name] <= made[name]]
    fields = unread_fields(product)
    where.update(fields)
    unused += sorted(fields)
    wrong = [f"{where[name]}: " + (f"only tests use {name}" if in_tests[name] else f"nobody uses {name}")
             for name in unused if name not in FOR_TESTS]
    return wrong + [f"{Path(__file__).name}: {name} needs no exception" for name in FOR_TESTS if name not in unused]


def body_from(text: str, begin: int) -> str:
    """What stands in the braces of which the first ends before `begin`."""
    depth = 1
    for place in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return text[begin:place]
    return text[begin:]


def check_mechanisms(files: dict[str, str]) -> list[str]:
    """Counts of what a newcomer has to know, against numbers that only fall."""
    product = [re.sub(r"//[^\n]*", "", text) for name, text in files.items() if not is_test(name)]
    kind = re.compile(r"\b(?:class|struct) (\w+)(?: final)?(?:\s*:\s*([^{;]+))?\s*{")
    made = [(match[1], match[2] or "", body_from(text, match.end())) for text in product for match in kind.finditer(text)]
    ports = {name for name, _, body in made if re.search(r"\)\s*(?:const)?\s*(?:noexcept)?\s*=\s*0;", body)}
    implemented = [set(re.findall(r"\w+", bases)) & ports for _, bases, _ in made]
    users = Counter(port for of_one in implemented for port in of_one)
    codecs = {word for text in product for word in re.findall(r"\b(\w+)From(?:Text|Json)\(", text)}
    counts = {
        "PORTS_OF_ONE": sum(users[port] == 1 for port in ports),
        "OF_MANY_PORTS": sum(len(of_one) >= 3 for of_one in implemented),
        "FUNCTIONS_AS_PORT": sum(body.count("std::function<") >= 3 and "(" not in re.sub(r"std::function<[^;]*>", "", body)
                                 for _, _, body in made),
        "LISTS_AS_TEXT": len(codecs - SINGLE_VALUES),
    }
    return [f"{Path(__file__).name}: {name} is {count}, not {globals()[name]}: " +
            ("take one away instead" if count > globals()[name] else "write the new number here")
            for name, count in counts.items() if count != globals()[name]]


def main() -> int:
    files = sources()
    if "--table" in sys.argv:
        print("\n".join(table_of(folders_included(files))))
        return 0
    found = check_includes(files) + check_users(files) + check_mechanisms(files)
    for finding in found:
        print(finding)
    print(f"structure: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
