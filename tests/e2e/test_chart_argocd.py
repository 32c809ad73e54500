"""The health checks that the chart has for Argo CD, run by Lua 5.1 as Argo CD runs them: a function
body over `obj`, without libraries but the basic ones."""

import subprocess

import pytest
import yaml

from support.helm import SERVER_CHART

PATCH = SERVER_CHART / "files/argocd/argocd-cm.yaml"
DRIVER = """
local pairs_only = { ipairs = ipairs, pairs = pairs, tostring = tostring, type = type, obj = %s }
local check = assert(loadfile(arg[1]))
setfenv(check, pairs_only)
local health = check()
print(health.status)
print(health.message)
"""
ACCEPTED = ("DeclarationMapping", "NamingPolicy", "OwnershipGrant")


def literal(value) -> str:
    """The value as Lua writes it."""
    if isinstance(value, dict):
        return "{" + ",".join(f'["{key}"]={literal(item)}' for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(literal, value)) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


@pytest.fixture
def health(tmp_path):
    """A function that says what Argo CD would show of an object of that kind."""
    texts = yaml.safe_load(PATCH.read_text())["data"]

    def judge(kind: str, obj: dict) -> tuple[str, str]:
        check, driver = tmp_path / "check.lua", tmp_path / "driver.lua"
        check.write_text(texts[f"resource.customizations.health.truce.dev_{kind}"])
        driver.write_text(DRIVER % literal(obj))
        done = subprocess.run(["lua5.1", driver, check], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        status, _, message = done.stdout.rstrip("\n").partition("\n")
        return status, message

    return judge


def accepted(status: str, generation: int = 2) -> dict:
    """An object of generation 2 with that condition."""
    conditions = [
        {"type": "Other", "status": "True", "message": "no"},
        {"type": "Accepted", "status": status, "message": "why", "observedGeneration": generation},
    ]
    return {"metadata": {"generation": 2}, "status": {"conditions": conditions}}


@pytest.mark.parametrize("kind", ACCEPTED)
def test_what_takes_effect_is_healthy(health, kind):
    assert health(kind, accepted("True")) == ("Healthy", "why")
    assert health(kind, accepted("False")) == ("Degraded", "why")
    assert health(kind, accepted("Unknown")) == ("Progressing", "why")


@pytest.mark.parametrize("kind", ACCEPTED)
def test_what_truce_has_not_read_is_progressing(health, kind):
    assert health(kind, accepted("True", generation=1))[0] == "Progressing"
    for unread in ({}, {"status": {}}, {"status": {"conditions": []}}):
        assert health(kind, {"metadata": {"generation": 2}, **unread})[0] == "Progressing"


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("allowed", "Healthy"),
        ("denied", "Degraded"),
        ("unverified", "Degraded"),
        ("unknown", "Progressing"),
    ],
)
def test_a_check_has_its_verdict(health, verdict, expected):
    obj = {"metadata": {}, "status": {"verdict": verdict, "message": "the text"}}
    assert health("OwnershipCheck", obj) == (expected, "the text")
    del obj["status"]["message"]
    assert health("OwnershipCheck", obj) == (expected, f"verdict: {verdict}")


def test_a_check_that_nobody_judged_waits(health):
    for obj in ({"metadata": {}}, {"metadata": {}, "status": {}}):
        status, message = health("OwnershipCheck", obj)
        assert status == "Progressing" and "webhook configuration" in message
