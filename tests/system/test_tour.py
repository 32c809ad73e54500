"""What `make run` does after the build: .tools/run.sh and the tour, as a newcomer sees them."""

import json
import os
import re
import signal
import subprocess

import pytest

from support.processes import wait_for
from support.truce_process import BINARY, REPOSITORY, require_binary

RUN = REPOSITORY / ".tools/run.sh"


@pytest.fixture
def environment(tmp_path):
    """A folder and free ports, so that the tour of a person can go on meanwhile."""
    require_binary()
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TRUCE_")}
    addresses = {f"TRUCE_{name}_ADDRESS": "127.0.0.1:0"
                 for name in ("ADMISSION", "API", "METRICS", "PROBES")}
    return kept | addresses | {"TRUCE_BINARY": str(BINARY), "TRUCE_RUN_DIR": str(tmp_path / "run")}


def run_once(environment: dict, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([RUN], env=environment | {"RUN_ONCE": "1"} | more, cwd=REPOSITORY,
                          capture_output=True, text=True, timeout=120)


def test_the_duplicates_and_the_name_are_refused_each_time(environment):
    for _ in range(2):
        done = run_once(environment)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stderr == ""
        verdicts = re.findall(r"^   (ALLOWED|REFUSED)", done.stdout, re.M)
        assert verdicts == ["ALLOWED", "REFUSED", "REFUSED", "REFUSED", "ALLOWED"]
        text = re.sub(r"\s+", " ", done.stdout)
        assert text.count('S3 bucket "prod-artifacts" is owned by service "service-a"') == 2
        assert 'Name it "payments-prod-bucket".' in text
        assert "Exactly the 2 duplicates were refused" in text


def test_a_tour_that_is_not_as_expected_fails(environment):
    done = run_once(environment, TRUCE_MODE="audit")
    assert done.returncode == 1
    assert "2 of 5 verdicts are not as expected" in done.stdout


def test_a_server_that_does_not_start_is_told(environment):
    done = run_once(environment, TRUCE_MODE="strict")
    assert done.returncode == 1
    assert "mode: 'strict' is not allowed" in done.stderr
    assert done.stdout == ""


def test_a_folder_with_other_data_is_left_alone(environment, tmp_path):
    (tmp_path / "run/data").mkdir(parents=True)
    (tmp_path / "run/data/mine").write_text("")
    done = run_once(environment)
    assert done.returncode == 1
    assert "holds data of something else" in done.stderr
    assert (tmp_path / "run/data/mine").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_keeps_serving_and_its_commands_work(environment, tmp_path, number):
    output = tmp_path / "output.txt"
    with open(output, "w") as file:
        tour = subprocess.Popen([RUN], env=environment, cwd=REPOSITORY, stdout=file,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                start_new_session=True)
    try:
        wait_for(lambda: tour.poll() is not None or "Try next" in output.read_text()
                 and output.read_text().endswith("gets it.\n"), 60, "the guide")
        assert tour.poll() is None, output.read_text()
        second = run_once(environment)
        assert second.returncode == 1 and "a tour serves already" in second.stderr
        guide = output.read_text().split("Try next", 1)[1]
        commands = [line.strip() for line in guide.splitlines() if line.startswith("  ")]
        done = [subprocess.run(command, shell=True, cwd=REPOSITORY, capture_output=True, text=True,
                               timeout=60) for command in commands]
        assert [result.returncode for result in done] == [0, 0, 0], done
        assert done[0].stdout == "confirmed 1\n"
        assert done[1].stdout.startswith("released s3/Bucket prod-artifacts, was held by service-a")
        assert "ALLOWED" in done[2].stdout
        addresses = json.loads((tmp_path / "run/data/addresses.json").read_text())
        assert all(address in output.read_text() for address in addresses.values())
    finally:
        os.killpg(tour.pid, number)  # As a terminal does: all of them get the signal.
        code = tour.wait(60)
    assert code == 0
    assert not (tmp_path / "run/data/addresses.json").exists()
