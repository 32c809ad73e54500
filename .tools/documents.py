#!/usr/bin/env python3
"""Checks the documents: none is too long, every link leads somewhere, every page is in the manual's table of contents,
and no sentence has "what" or "who" as its subject.

Prints file:line: what is wrong; exit 1 on a finding.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Bytes, the first pattern that fits.
SIZES = [
    (r"DESIGN\.md", 14 * 1024),
    (r"(CHANGELOG|HACKING)\.md", 4 * 1024),
    (r"docs/(notes|reference)/.*", None),
    (r"charts/truce(-check)?/README\.md", None),  # the table of values is as long as it is
    (r"(.*/)?DESIGN\.md", 4 * 1024),
    (r".*", 8 * 1024),
]
NOTES_WORDS_MAX = 15_000
# Sentences that have to be read twice: "What lies in no known account counts for no account". Questions are none.
RIDDLE = re.compile(r"(?:^|[.:;] |[|*] ?)(?:What|Who|Whose|Whoever|That which)\b[^.?|]*(?:[.|]|$)"
                    r"|\b(?:stands|is told|of which)\b")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """The anchors of a document's headings, as code hosts make them."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def check_links(name: str, text: str) -> list[str]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if "://" in target or target.startswith("mailto:"):
                continue
            file, _, anchor = target.partition("#")
            path = (ROOT / name).parent / file if file else ROOT / name
            if not path.exists():
                found.append(f"{name}:{number}: {target} leads nowhere")
            elif anchor and path.suffix == ".md" and anchor not in anchors(path):
                found.append(f"{name}:{number}: {file or name} has no heading '{anchor}'")
    return found


def main() -> int:
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", "*.md"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.splitlines()
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in sorted(names)
             if not name.startswith("tests/golden/") and (ROOT / name).is_file()}
    found = []
    for name, text in texts.items():
        most = next(size for pattern, size in SIZES if re.fullmatch(pattern, name))
        if most and len(text.encode()) > most:
            found.append(f"{name}:1: {len(text.encode())} bytes, more than {most}")
        found += check_links(name, text)
        if not name.startswith(("docs/notes/", "docs/reference/")):
            prose = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)
            found += [f"{name}:{number}: name the thing, one verb, who does it: {riddle[0].strip()[:60]}"
                      for number, line in enumerate(prose.splitlines(), 1) if (riddle := RIDDLE.search(line))]
    words = sum(len(text.split()) for name, text in texts.items() if name.startswith("docs/notes/"))
    if words > NOTES_WORDS_MAX:
        found.append(f"docs/notes:1: {words} words, more than {NOTES_WORDS_MAX}")
    for name in texts:
        if re.fullmatch(r"docs/[^/]+\.md", name) and name != "docs/README.md":
            if f"]({Path(name).name})" not in texts["docs/README.md"]:
                found.append(f"{name}:1: is not in the table of contents, docs/README.md")
    for finding in found:
        print(finding)
    print(f"documents: {len(texts)}, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
