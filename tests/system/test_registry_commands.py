"""who-owns, list, describe, services, audit, denials: beside the server and over the network."""

import json

import pytest
import yaml

from system.test_api import TOKENS, api, resource_of  # noqa: F401  (api is a fixture)

OK, NO, USAGE, UNREACHABLE = 0, 1, 2, 3


def test_commands_beside_the_server(api):  # noqa: F811
    truce = api.truce
    owner = truce.command("who-owns", "s3/Bucket/prod-one")
    assert owner.returncode == OK, owner.stderr
    assert owner.stdout.splitlines()[0].split() == [
        "TYPE", "NAME", "SERVICE", "OWNER", "STATE", "SINCE"]
    assert "ObjectStorage team-a/one" in owner.stdout
    by_arn = truce.command("who-owns", "arn:aws:s3:::prod-two", "-o", "name")
    assert by_arn.stdout == "s3/Bucket/prod-two\n"
    free = truce.command("who-owns", "prod-nothing")
    assert (free.returncode, free.stderr) == (NO, "truce: nobody owns prod-nothing\n")
    listed = json.loads(truce.command("list", "-o", "json", "--sort-by", "name").stdout)["items"]
    assert [item["name"] for item in listed] == ["prod-one", "prod-three", "prod-two"]
    assert len(truce.command("list", "--limit", "1", "-o", "name").stdout.splitlines()) == 1
    described = truce.command("describe", "prod-one").stdout
    for word in ("Declarations", "History", "Denied", "team-b/mine"):
        assert word in described
    assert yaml.safe_load(truce.command("services", "-o", "yaml").stdout)["items"]
    assert "granted" in truce.command("audit").stdout
    assert "team-b/mine" in truce.command("denials").stdout
    released = truce.command("release", "--id", resource_of(api, "prod-one")["id"], "--reason", "r")
    assert released.returncode == OK, released.stderr
    actions = {line["action"] for line in json.loads(truce.command("audit", "-o", "json").stdout)["items"]}
    assert actions >= {"granted", "released"}


def test_overrides(api):  # noqa: F811
    truce = api.truce
    assert truce.command("override").stdout.split() == ["ID", "AUDITS", "UNTIL", "REASON", "BY"]
    made = truce.command("override", "--namespace", "team-a", "--for", "2h", "--reason", "r", "-o", "name")
    assert made.returncode == OK, made.stderr
    assert "namespace team-a" in truce.command("override").stdout
    ended = truce.command("override", "--end", made.stdout.strip())
    assert (ended.returncode, ended.stdout) == (OK, f"ended {made.stdout}")
    assert truce.command("override", "--end", made.stdout.strip()).returncode == NO
    for bad in (["--name", "x"], ["--name", "x", "--for", "2h"], ["--name", "x", "--for", "2", "--reason", "r"],
                ["--name", "x", "--group", "g", "--for", "2h", "--reason", "r"], ["--for", "2h"],
                ["--end", "no id"]):
        assert truce.command("override", *bad).returncode == USAGE, bad


def test_commands_over_the_network(api):  # noqa: F811
    truce = api.truce
    token = truce.directory / "eve.token"
    token.write_text(TOKENS["eve"][1] + "\n")
    server = ["--server", f"https://{api.address}", "--ca-file", str(truce.ca_file)]
    assert truce.command("list", *server, "--token-file", str(token)).returncode == OK
    refused = truce.command("audit", *server, "--token-file", str(token))
    assert refused.returncode == NO and "eve may not list audit" in refused.stderr
    unknown = truce.command("list", *server)
    assert unknown.returncode == NO and "no bearer token" in unknown.stderr
    nobody = truce.command("list", "--server", "https://127.0.0.1:1")
    assert nobody.returncode == UNREACHABLE
    assert truce.command("list", "--server", "ftp://x").returncode == USAGE


@pytest.mark.parametrize("command", ["who-owns", "list", "describe", "services", "audit", "denials", "override"])
def test_help_has_an_example(cli, command):
    result = cli(command, "--help")
    assert result.returncode == OK
    assert f"  truce {command}" in result.stdout
    assert "Example" in result.stdout
