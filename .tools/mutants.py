#!/usr/bin/env python3
"""Takes each rule of the core out of a copy and demands that its named history fails.

  mutants.py [--share N | PATTERN]
  mutants.py --stale    names the patches that do not apply to the files as they are now, and builds nothing

Each patch of tests/mutants says in its first lines which rule it takes out and which test must fail
then, and its program unless that is histories_test. A patch that does not apply any more, a copy
that does not build, and a test that still passes are failures. --share N: two patches, by HEAD's
tree and N as ROTATE picks it (.tools/test.sh); "all": all of them; else all whose name contains
PATTERN. Prints the table rule -> history.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants" / "source"
PROGRAM = "histories_test"  # unless a patch names another
SHARES = 4
TEST_SECONDS = 300


def run(*command: str, **more) -> subprocess.CompletedProcess:
    # The copy lies in a folder that git ignores: there it must not look for the repository.
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(COPY.parent)}
    return subprocess.run(
        command, cwd=COPY, capture_output=True, text=True, check=False, env=env, **more)


def copy_sources() -> None:
    """The files as they are now; only what changed is written, so that little is built again."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")
    for name in filter(None, listed):
        source, target = ROOT / name, COPY / name
        if not source.is_file() or (target.is_file() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    (COPY / "build").mkdir(exist_ok=True)
    deps = COPY / "build" / "deps"
    if not deps.exists():
        deps.symlink_to(ROOT / "build" / "deps")


def field(patch: Path, name: str, fallback: str = "") -> str:
    found = re.search(rf"^{name}: (.+)$", patch.read_text(), re.MULTILINE)
    if not found and not fallback:
        sys.exit(f"{patch}: has no line \"{name}: …\"")
    return found.group(1) if found else fallback


def fault_of(patch: Path) -> str:
    """What is wrong with the rule's test; empty when it fails as it should."""
    history = field(patch, "History")
    program = field(patch, "Program", PROGRAM)
    if run("git", "apply", str(patch)).returncode != 0:
        return "the patch does not apply any more"
    try:
        jobs = os.environ.get("TRUCE_JOBS", str(os.cpu_count() or 1))
        built = run("cmake", "--build", "build/release", "-j", jobs, "--target", program)
        if built.returncode != 0:
            return "the copy does not build: " + "".join(
                line for line in built.stdout.splitlines() if " error: " in line)[:300]
        try:
            (test,) = (COPY / "build/release/tests").glob(f"*/{program}")
            tested = run(str(test), f"--gtest_filter={history}", timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return f"{history} did not end"
        if "[ RUN      ]" not in tested.stdout:
            return f"there is no test {history}"
        return "" if tested.returncode != 0 else f"{history} passes without the rule"
    finally:
        run("git", "apply", "-R", str(patch))


def stale() -> list[str]:
    """What is wrong with patches, as far as shows without building."""
    tests = "".join(path.read_text() for path in (ROOT / "tests").glob("*/*.cc"))
    wrong = []
    for patch in sorted((ROOT / "tests" / "mutants").glob("*.patch")):
        name = patch.relative_to(ROOT)
        applied = subprocess.run(["git", "apply", "--check", str(patch)], cwd=ROOT, capture_output=True, text=True,
                                 check=False)
        if applied.returncode != 0:
            wrong.append(f"{name}: does not apply any more; take its fault into the lines of today: "
                         f"{applied.stderr.strip()}")
        # A filter of GoogleTest: [INSTANTIATION/]SUITE.TEST[/VALUE], several with a colon between them.
        for history in field(patch, "History").split(":"):
            suite, _, test = re.sub(r"^[^.]*/", "", history).partition(".")
            test = test.partition("/")[0]
            if not re.search(rf"\bTEST(?:_F|_P)?\({suite},\s*{test}\)", tests):
                wrong.append(f"{name}: there is no test {history}; name the one that must fail")
    return wrong


def chosen(arguments: list[str]) -> list[Path]:
    patches = sorted((ROOT / "tests" / "mutants").glob("*.patch"))
    if arguments[:1] == ["--share"]:
        share = arguments[1]
        if share == "all":
            return patches
        tree = subprocess.run(
            ["git", "rev-parse", "HEAD^{tree}"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        first = int(tree[:8], 16) + int(share) * len(patches) // SHARES
        return [patches[(first + half) % len(patches)] for half in (0, len(patches) // 2)]
    return [patch for patch in patches if not arguments or arguments[0] in patch.name]


def main() -> int:
    if sys.argv[1:] == ["--stale"]:
        wrong = stale()
        print(*wrong, sep="\n", end="\n" if wrong else "")
        return 1 if wrong else 0
    copy_sources()
    configured = run("cmake", "--preset", "release")
    if configured.returncode != 0:
        sys.exit(configured.stdout + configured.stderr)
    failed = 0
    patches = chosen(sys.argv[1:])
    for patch in patches:
        fault = fault_of(patch)
        failed += bool(fault)
        says = f"FAILED: {fault}" if fault else field(patch, "History")
        print(f"{patch.stem:32} {field(patch, 'Rule'):60} {says}", flush=True)
    print(f"{len(patches) - failed} caught, {failed} not")
    return 1 if failed or not patches else 0


if __name__ == "__main__":
    sys.exit(main())
