"""who-owns, list, describe, services, audit, denials: beside the server and over the network."""

import json

import pytest
import yaml

from system.test_api import TOKENS, api, resource_of  # noqa: F401  (api is a fixture)

OK, NO, USAGE, UNREACHABLE, WARNINGS = 0, 1, 2, 3, 4


def test_commands_beside_the_server(api):  # noqa: F811
    truce = api.truce
    owner = truce.command("who-owns", "s3/Bucket/prod-one")
    assert owner.returncode == OK, owner.stderr
    assert owner.stdout.splitlines()[0].split() == [
        "TYPE", "NAME", "ACCOUNT", "REGION", "SERVICE", "OWNER", "STATE", "SINCE"]
    assert "ObjectStorage team-a/one" in owner.stdout
    by_arn = truce.command("who-owns", "arn:aws:s3:::prod-two", "-o", "name")
    assert by_arn.stdout == "s3/Bucket/prod-two\n"
    free = truce.command("who-owns", "prod-nothing")
    assert (free.returncode, free.stderr) == (NO, "truce: nobody owns prod-nothing\n")
    listed = json.loads(truce.command("list", "-o", "json", "--sort-by", "name").stdout)["items"]
    assert [item["name"] for item in listed] == ["prod-one", "prod-three", "prod-two"]
    assert len(truce.command("list", "--limit", "1", "-o", "name").stdout.splitlines()) == 1
    for pattern, names in (("prod-*", "one three two"), ("*-t*", "three two"), ("prod-t*o", "two"), ("prod-one", "one"),
                           ("prod", ""), ("*", "one three two"), ("PROD-T*", "three two")):
        for more in ([], ["--sort-by", "name"], ["--limit", "10", "--type", "s3/Bucket"], ["-n", "team-a"]):
            found = truce.command("list", "--name", pattern, "-o", "name", *more).stdout.split()
            assert sorted(found) == [f"s3/Bucket/prod-{name}" for name in names.split()], (pattern, more)
    bare = truce.command("list", "--no-headers", "-A").stdout.splitlines()
    assert len(bare) == 3 and all(line.startswith("s3/Bucket ") for line in bare)
    for nothing in (["list", "-n", "team-z"], ["denials", "-n", "team-z"], ["audit", "--since", "2030-01-01T00:00:00Z"]):
        empty = truce.command(*nothing)
        assert (empty.returncode, empty.stdout, empty.stderr) == (OK, "", "Nothing found.\n")
    assert json.loads(truce.command("list", "-n", "team-z", "-o", "json").stdout) == {"items": []}
    assert truce.command("list", "-A", "-n", "team-a").returncode == USAGE
    lately = truce.command("audit", "--since", "1h", "--no-headers").stdout.splitlines()
    assert {line.split()[2] for line in lately} == {f"s3/Bucket/prod-{name}" for name in ("one", "two", "three")}
    assert truce.command("audit", "--since", "1h", "--until", "1h").stdout == ""
    assert truce.command("audit", "--since", "soon").returncode == USAGE
    for word in ("bucket/prod-one", "objectstorage/one", "ObjectStorage.platform.example.org/one", "s3/bucket/prod-one",
                 "s3/Bucket|aws|||name=prod-one", resource_of(api, "prod-one")["id"]):
        found = truce.command("who-owns", word, "-o", "name")
        assert (found.returncode, found.stdout) == (OK, "s3/Bucket/prod-one\n"), (word, found.stderr)
    assert truce.command("who-owns", "objectstorage/one", "-n", "team-a", "-o", "name").returncode == OK
    assert truce.command("who-owns", "objectstorage/one", "-n", "team-b").returncode == NO
    for word in ("nokind/prod-one", "arn:nonsense", "https://example.org/prod-one", "no/Type/prod-one"):
        unclear = truce.command("who-owns", word)
        assert unclear.returncode == USAGE and "KIND/NAME" in unclear.stderr, (word, unclear.stderr)
    described = truce.command("describe", "prod-one").stdout
    for word in ("Not free:     reserved for ", "Declarations", "History", "Denied", "team-b/mine"):
        assert word in described
    assert yaml.safe_load(truce.command("services", "-o", "yaml").stdout)["items"]
    assert "granted" in truce.command("audit").stdout
    assert "team-b/mine" in truce.command("denials").stdout
    released = truce.command("release", "--id", resource_of(api, "prod-one")["id"], "--reason", "r")
    assert released.returncode == OK, released.stderr
    actions = {line["action"] for line in json.loads(truce.command("audit", "-o", "json").stdout)["items"]}
    assert actions >= {"granted", "released"}


def test_each_list_has_each_form(api):  # noqa: F811
    truce = api.truce
    assert truce.command("share", "prod-one", "--with", "team-b", "--reason", "r").returncode == OK
    assert truce.command("override", "--name", "prod-one", "--for", "1h", "--reason", "r").returncode == OK
    for command, name in ((["list", "-A"], "name"), (["who-owns", "prod-one"], "name"), (["describe", "prod-one"], "name"),
                          (["services"], "service"), (["audit"], "action"), (["denials"], "object"), (["share"], "to"),
                          (["transfer"], "id"), (["override"], "reason"), (["quotas"], "type"),
                          (["findings"], "rule"), (["findings", "--muted"], "rule"), (["conflicts"], "effect"),
                          (["doctor"], "name")):
        items = json.loads(truce.command(*command, "-o", "json").stdout)["items"]
        for form in ("table", "wide", "yaml", "csv", "ndjson", "name", f"custom-columns=X:.{name}", "jsonpath={.items[*]." + name + "}"):
            shown = truce.command(*command, "-o", form, "--no-headers", "--sort-by", name)
            assert shown.returncode in (OK, NO), (command, form, shown.stderr)
            assert bool(shown.stdout) or not items, (command, form)
        lines = truce.command(*command, "-o", "ndjson").stdout.splitlines()
        assert [json.loads(line) for line in lines] == items, command
    columns = truce.command("list", "-A", "-o", "custom-columns=N:.name,OF:.root.namespace", "--sort-by", "-name")
    assert columns.stdout.split() == ["N", "OF", "prod-two", "team-a", "prod-three", "team-a", "prod-one", "team-a"]
    template = 'jsonpath={range .items[*]}{.name}{"\\n"}{end}'
    assert truce.command("list", "-A", "--sort-by", "name", "-o", template).stdout == "prod-one\nprod-three\nprod-two\n"
    rows = truce.command("list", "-A", "-o", "csv", "--sort-by", "name").stdout.splitlines()
    assert rows[0] == "type,name,account,region,service,root,state,since,contact,contested,until,id,arn"
    assert rows[1].startswith("s3/Bucket,prod-one,")
    for bad in (["-o", "custom-columns=name"], ["-o", "jsonpath={.x"], ["-o", "nonsense"], ["--sort-by", "nothing"]):
        assert truce.command("list", "-A", *bad).returncode == USAGE, bad


def test_what_owners_agree_to(api):  # noqa: F811
    truce = api.truce
    given = truce.command("share", "s3/Bucket/prod-one", "--with", "team-b", "--level", "attach", "--for", "90d",
                          "--reason", "r", "-o", "name")
    assert given.returncode == OK, given.stderr
    listed = truce.command("share", "prod-one").stdout
    assert "namespace team-b" in listed and "active" in listed
    assert json.loads(truce.command("share", "-o", "json").stdout)["items"][0]["level"] == "attach"
    described = truce.command("describe", "prod-one").stdout
    assert described.split("\nShares\n")[1].split()[:10] == [
        "WITH", "LEVEL", "STATE", "UNTIL", "REASON", "ID", "namespace", "team-b", "attach", "active"], described
    assert "Protection:" not in described and "Shares" not in truce.command("describe", "prod-two").stdout
    assert truce.command("share", "prod-two", "-o", "name").stdout == ""
    told = truce.command("share", "prod-two", "--with", "team-b", "--for", "1h", "--reason", "reads: it", "-o", "yaml")
    assert told.returncode == OK and told.stderr.startswith("Nothing was changed")
    grant = yaml.safe_load(told.stdout)
    assert (grant["kind"], grant["metadata"]["namespace"]) == ("OwnershipGrant", "team-a")
    assert grant["spec"]["resource"] == {"arn": "arn:aws:s3:::prod-two"}
    [said] = grant["spec"]["shares"]
    assert (said["namespace"], said["level"], said["reason"]) == ("team-b", "observe", "reads: it") and said["until"]
    assert truce.command("share", "prod-two", "-o", "name").stdout == ""
    told = truce.command("transfer", "prod-two", "--to", "team-b", "--successor", "Bucket/team-b/x", "--reason", "r",
                         "-o", "yaml")
    assert yaml.safe_load(told.stdout)["spec"]["transferTo"] == {"namespace": "team-b", "successor": "Bucket/team-b/x"}
    assert truce.command("transfer", "-o", "name").stdout == ""
    assert truce.command("transfer", "prod-two", "--to", "team-b", "--force", "--reason", "r", "-o",
                         "yaml").returncode == USAGE
    lacking = truce.command("transfer", "prod-two", "--to", "team-b", "--force", "--reason", "r")
    assert lacking.returncode == USAGE and "--force needs --successor" in lacking.stderr
    ended = truce.command("share", "--end", given.stdout.strip(), "--reason", "r")
    assert (ended.returncode, ended.stdout) == (OK, "ended the share of s3/Bucket prod-one with namespace team-b\n")
    assert truce.command("share", "--end", given.stdout.strip()).returncode == NO
    offered = truce.command("transfer", "prod-one", "--to", "team-b", "--reason", "r")
    assert offered.returncode == OK and "[todo] 2. namespace team-b accepts" in offered.stdout, offered.stderr
    ident = truce.command("transfer", "-o", "name").stdout.strip()
    accepted = truce.command("transfer", "--accept", ident, "--successor", "ObjectStorage/team-b/one")
    assert "[done] 2." in accepted.stdout, accepted.stderr
    assert truce.command("transfer", "prod-one").returncode == NO
    assert "stays with its owner" in truce.command("transfer", "--decline", ident, "--reason", "r").stdout
    assert "no transfer of s3/Bucket prod-one is under way" in truce.command("transfer", "prod-one").stdout
    assert truce.command("protect", "prod-one").returncode == NO
    assert "is protected" in truce.command("protect", "prod-one", "--reason", "customer data").stdout
    assert "customer data" in truce.command("protect", "prod-one").stdout
    assert ": customer data\n" in truce.command("describe", "prod-one").stdout.split("\nProtection:")[1]
    assert truce.command("override", "--name", "prod-one", "--for", "1h", "--reason", "moves").returncode == OK
    told = truce.command("protect", "prod-one")
    assert told.returncode == WARNINGS and "but its deletion would not be refused" in told.stdout
    assert "its deletion would pass: An override" in truce.command("describe", "prod-one").stdout
    assert "lets its deletion pass: moves" in told.stdout and "truce override --end" in told.stdout
    told = truce.command("protect", "prod-two", "--reason", "customer data", "-o", "yaml")
    assert told.returncode == OK and told.stderr.startswith("Nothing was changed")
    grant = yaml.safe_load(told.stdout)
    assert (grant["kind"], grant["metadata"]["namespace"]) == ("OwnershipGrant", "team-a")
    assert grant["spec"] == {"resource": {"arn": "arn:aws:s3:::prod-two"}, "protection": {"reason": "customer data"}}
    assert truce.command("protect", "prod-two", "-o", "yaml").returncode == NO
    assert truce.command("protect", "prod-two", "--off", "--reason", "r", "-o", "yaml").returncode == USAGE
    shown = json.loads(truce.command("protect", "prod-one", "-o", "json").stdout)
    assert shown["protection"]["reason"] == "customer data" and "declaredBy" not in shown["protection"]
    assert truce.command("protect", "prod-one", "--off", "--reason", "r").returncode == OK
    assert "nothing to resolve" in truce.command("resolve", "prod-one").stdout
    assert truce.command("resolve", "prod-nothing").returncode == NO
    for bad in (["share", "--with", "team-b"], ["share", "prod-one", "--with", "team-b"], ["protect"], ["resolve"],
                ["share", "prod-one", "--with", "team-b", "--reason", "r", "--for", "soon"],
                ["transfer", "prod-one", "--to", "team-b"], ["transfer", "--decline", "x"],
                ["transfer", "prod-one", "--accept", "a", "--decline", "b"]):
        assert truce.command(*bad).returncode == USAGE, bad


def test_overrides(api):  # noqa: F811
    truce = api.truce
    assert truce.command("override").stderr == "Nothing found.\n"
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


def test_findings_without_a_cluster(api):  # noqa: F811
    truce = api.truce
    assert (truce.command("findings").returncode, truce.command("findings").stdout) == (OK, "Nothing is found.\n")
    assert truce.command("findings", "--muted").stdout == "Nothing is muted.\n"
    assert json.loads(truce.command("findings", "-o", "json", "--rule", "tag-war").stdout) == {"items": []}
    unknown = truce.command("findings", "--explain", "k4wx2kq7dn")
    assert unknown.returncode == NO and "there is no such finding" in unknown.stderr
    for bad in (["--rule", "no-such"], ["--severity", "bad"], ["--explain", "NO ID"], ["--explain", "abc"],
                ["--mute", "k4wx2kq7dn"], ["--mute", "k4wx2kq7dn", "--for", "2h"], ["--for", "2h"],
                ["--mute", "k4wx2kq7dn", "--unmute", "k4wx2kq7dn"], ["--muted", "--service", "x"],
                ["--explain", "k4wx2kq7dn", "--rule", "tag-war"]):
        assert truce.command("findings", *bad).returncode == USAGE, bad


def test_commands_over_the_network(api):  # noqa: F811
    truce = api.truce
    token = truce.directory / "eve.token"
    token.write_text(TOKENS["eve"][1] + "\n")
    server = ["--server", f"https://{api.address}", "--ca-file", str(truce.ca_file)]
    assert truce.command("list", *server, "--token-file", str(token)).returncode == OK
    refused = truce.command("audit", *server, "--token-file", str(token))
    assert refused.returncode == NO and 'user "eve" may not list audit' in refused.stderr
    for report in ("simulate", "conflicts"):
        shown = truce.command(report, *server, "--token-file", str(token))
        assert shown.returncode == OK, shown.stderr
    for report in ("baseline", "coverage", "recovery", "brake"):
        none = truce.command(report, *server, "--token-file", str(token))
        assert none.returncode == NO and "follows no cluster" in none.stderr, none.stderr
    for command in (["recovery", "start"], ["recovery", "finish"], ["brake", "release"]):
        may_not = truce.command(*command, "--reason", "r", *server, "--token-file", str(token))
        assert may_not.returncode == NO and f'user "eve" may not update {command[0]}' in may_not.stderr
    unknown = truce.command("list", *server)
    assert unknown.returncode == NO and "no bearer token" in unknown.stderr
    nobody = truce.command("list", "--server", "https://127.0.0.1:1")
    assert nobody.returncode == UNREACHABLE
    assert truce.command("list", "--server", "ftp://x").returncode == USAGE


@pytest.mark.parametrize("command", ["who-owns", "list", "describe", "services", "audit", "denials", "override",
                                     "share", "transfer", "protect", "resolve", "findings"])
def test_help_has_an_example(cli, command):
    result = cli(command, "--help")
    assert result.returncode == OK
    assert f"  truce {command}" in result.stdout
    assert "Example" in result.stdout
