"""What runs the GoogleTest cases of a sanitizer build loses none of them and blames the right one."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / ".tools"
CASES = ["First.Passes", "First.Too", "Second.Odd", "Second.Passes",
         *(f"Rotating/Third.Passes/{share}" for share in range(8))]
# Behaves as a GoogleTest program does; $ODD says what becomes of Second.Odd.
PROGRAM = """#!{python}
import os, signal, sys
arguments = dict(one.partition("=")[::2] for one in sys.argv[1:])
cases, odd = arguments["--gtest_filter"].split(":"), os.environ["ODD"]
code, lines = 0, []
for case in cases:
    print("[ RUN      ]", case, flush=True)
    inside = ""
    if case == "Second.Odd":
        if odd == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if odd == "ends":
            os._exit(0)
        if odd == "hangs":
            signal.pause()
        if odd == "fails":
            code, inside = 1, '<failure message="as told"/>'
        if odd == "is skipped":
            inside = '<skipped message="why"/>'
        if odd == "leaks":
            code = 23
    if odd == "breaks in company" and len(cases) > 1:
        code = 9
    suite, name = case.split(".")
    lines.append(f'<testcase classname="{{suite}}" name="{{name}}" status="run" '
                 f'result="{{"skipped" if "skip" in inside else "completed"}}" time="0.1">{{inside}}</testcase>')
with open(arguments["--gtest_output"].removeprefix("xml:"), "w") as report:
    report.write("<testsuites>" + "".join(lines) + "</testsuites>")
sys.exit(code)
"""


@pytest.fixture
def run_cases(tmp_path):
    """A function that runs a program of these cases and gives (exit code, output, name → failed?)."""
    program = tmp_path / "program"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o700)

    def run(odd: str, rotate: str = "all", label: str = "unit"):
        (tmp_path / "CTestTestfile.cmake").write_text("".join(
            f"add_test({case} {program} --gtest_filter={case} --gtest_also_run_disabled_tests)\n"
            f"set_tests_properties({case} PROPERTIES LABELS {label} TIMEOUT 3 WORKING_DIRECTORY {tmp_path})\n"
            for case in CASES))
        report = tmp_path / "report.xml"
        done = subprocess.run(
            [sys.executable, str(TOOLS / "run_cases.py"), str(tmp_path), "unit|model", str(report), "2"],
            env={**os.environ, "ODD": odd, "ROTATE": rotate},
            capture_output=True, text=True, timeout=60, check=False)
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return done.returncode, done.stdout, {
            case.get("name"): case.find("failure") is not None for case in cases}

    return run


@pytest.mark.parametrize("label, processes", [("unit", 1), ("model", 12)])
def test_all_pass(run_cases, label, processes):
    code, output, failed = run_cases("passes", label=label)
    assert code == 0 and failed == dict.fromkeys(CASES, False)
    assert f"12 cases, in {processes} processes" in output


@pytest.mark.parametrize("odd, told, label", [
    *((odd, told, label) for label in ("unit", "model") for odd, told in (
        ("fails", "as told"), ("is skipped", "why"), ("crashes", "ended with -11"),
        ("ends", "ended with 0"), ("leaks", "ended with 23"))),
    ("hangs", "took too long", "unit")])
def test_the_guilty_one_fails_and_all_others_run(run_cases, odd, told, label):
    code, output, failed = run_cases(odd, label=label)
    assert code == 1
    assert failed == {**dict.fromkeys(CASES, False), "Second.Odd": True}
    assert "FAILED Second.Odd: " in output and told in output


def test_a_process_fails_that_nobody_is_to_blame_for(run_cases):
    code, _, failed = run_cases("breaks in company")
    assert code == 1 and all(failed.values())


def test_each_rotating_case_has_its_share(run_cases):
    ran = []
    for share in range(4):
        code, output, failed = run_cases("passes", str(share))
        rotating = [name for name in failed if name.startswith("Rotating")]
        assert code == 0 and len(rotating) == 2 and len(failed) == 6
        assert f"share {share} of 0 to 3" in output
        ran += rotating
    assert sorted(ran) == CASES[4:]


MANY = """#!{python}
import pathlib, sys
if "--gtest_list_tests" in sys.argv:
    print("Rotating/Third.")
    print("\\n".join(f"  Passes/{{share}}  # GetParam() = {{share}}" for share in range(6)))
    print("First.\\n  Passes")
else:
    pathlib.Path("ran").write_text(sys.argv[1])
"""


def test_an_entry_of_many_cases_leaves_out_the_other_shares(tmp_path):
    program = tmp_path / "program"
    program.write_text(MANY.format(python=sys.executable))
    program.chmod(0o700)
    (tmp_path / "CTestTestfile.cmake").write_text(
        f"add_test(many {program} --gtest_filter=*s*)\n"
        f"set_tests_properties(many PROPERTIES LABELS unit TIMEOUT 9 WORKING_DIRECTORY {tmp_path})\n")
    for share, others in (("1", (0, 2, 3, 4)), ("all", ())):
        subprocess.run([sys.executable, str(TOOLS / "run_cases.py"), str(tmp_path), "unit", str(tmp_path / "report.xml")],
                       env={**os.environ, "ROTATE": share}, capture_output=True, timeout=60, check=True)
        left_out = ":".join(f"Rotating/Third.Passes/{other}" for other in others)
        assert (tmp_path / "ran").read_text() == "--gtest_filter=*s*" + (left_out and f"-{left_out}")
