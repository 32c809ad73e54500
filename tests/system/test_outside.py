"""What is owned outside the cluster: a Terraform state imported as the manual has it, exported again;
copies of the registry; and the other commands around an installation."""

import errno
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import IO

import pytest
import yaml

from support import objects
from support.truce_process import BINARY, TruceProcess
from system.test_api import TOKENS, api, creation  # noqa: F401  (api is a fixture)

OK, NO, USAGE, UNREACHABLE, CANNOT_RUN = 0, 1, 2, 3, 5
STATE = Path(__file__).parent / "outside" / "terraform.json"


def bring_in(truce, *more: str, file=STATE, source: str = "terraform:network"):
    return truce.command("import", str(file), "--source", source, "--service-tag", "service",
                         "--service", "platform", *more)


def test_a_terraform_state(api, tmp_path):  # noqa: F811
    truce = api.truce
    plan = bring_in(truce)
    assert plan.returncode == OK, plan.stderr
    assert "aws_s3_bucket.flow_logs" in plan.stdout and "module.jobs.aws_sqs_queue.this" in plan.stdout
    assert "2 new, 0 changed, 0 retired, 0 owned already, 0 conflicting, 0 unknown; 1 not of AWS" in plan.stdout
    assert truce.command("who-owns", "flow-logs").returncode == NO
    assert bring_in(truce, "--apply").returncode == OK
    owner = json.loads(truce.command("who-owns", "s3/Bucket/flow-logs", "-o", "json").stdout)["items"][0]
    assert (owner["state"], owner["service"]) == ("imported", "network")
    assert owner["reason"] == "terraform:network aws_s3_bucket.flow_logs"
    queue = truce.command("who-owns", "arn:aws:sqs:eu-west-1:123456789012:jobs")
    assert queue.returncode == OK and "platform" in queue.stdout
    assert "0 new, 0 changed, 0 retired, 2 owned already" in bring_in(truce, "--apply").stdout
    with truce.reviewer() as reviewer:
        adopts = creation(objects.claim("mine", "team-b", "flow-logs"))
        denied = reviewer.review(adopts)[1]
    assert not denied["allowed"] and "network" in denied["status"]["message"]
    # What vanished from the state is let go when asked for.
    state = json.loads(STATE.read_text())
    del state["values"]["root_module"]["child_modules"]
    less = tmp_path / "less.json"
    less.write_text(json.dumps(state))
    assert "0 retired" in bring_in(truce, file=less).stdout
    assert bring_in(truce, "--retire", "--apply", file=less).returncode == OK
    assert truce.command("who-owns", "sqs/Queue/jobs").returncode == NO


def test_a_list_is_taken_whole_or_not_at_all(api, tmp_path):  # noqa: F811
    truce = api.truce
    rows = tmp_path / "list.csv"
    rows.write_text("type,name\ns3/Bucket,by-hand\ns3/Bucket,prod-one\nno/Type,x\n")
    plan = bring_in(truce, file=rows, source="by-hand")
    assert plan.returncode == NO
    assert "1 new, 0 changed, 0 retired, 0 owned already, 1 conflicting, 1 unknown" in plan.stdout
    refused = bring_in(truce, "--apply", file=rows, source="by-hand")
    assert refused.returncode == NO and "nothing was imported" in refused.stderr
    table = refused.stdout.splitlines()
    assert any("conflicting" in line and "prod-one" in line for line in table), refused.stdout
    assert any("unknown" in line and "no/Type" in line for line in table), refused.stdout
    assert truce.command("who-owns", "by-hand").returncode == NO
    done = bring_in(truce, "--apply", "--skip", "conflicting,unknown", file=rows, source="by-hand")
    assert done.returncode == OK, done.stderr
    assert truce.command("who-owns", "by-hand").returncode == OK


def test_an_export_is_imported_again(api, tmp_path):  # noqa: F811
    truce = api.truce
    assert bring_in(truce, "--apply").returncode == OK
    lines = truce.command("export").stdout.splitlines()
    assert len([json.loads(line) for line in lines]) == 5
    assert len(json.loads(truce.command("export", "-o", "json").stdout)["items"]) == 5
    rows = tmp_path / "export.csv"
    rows.write_text(truce.command("export", "-o", "csv", "--state", "imported").stdout)
    directory = tmp_path / "other"
    directory.mkdir()
    with TruceProcess(directory) as other:
        taken = other.command("import", str(rows), "--source", "terraform:network", "--apply")
        assert taken.returncode == OK, taken.stderr
        assert other.command("export", "-o", "csv").stdout.count("\n") == 3

        def told(server, name):
            found = server.command("who-owns", name, "-o", "json").stdout
            item = json.loads(found)["items"][0]
            return {key: item[key] for key in ("key", "arn", "service", "account", "region", "state", "root")}

        for name in ("s3/Bucket/flow-logs", "sqs/Queue/jobs"):
            assert told(other, name) == told(truce, name)


def terminal_text(shown: IO[bytes]) -> str:
    """Everything that a program wrote to a terminal which is closed by now: it arrives in parts."""
    text = b""
    try:
        while part := shown.read(4096):
            text += part
    except OSError as error:
        assert error.errno == errno.EIO  # the end
    return text.decode()


def test_long_work_tells_how_far_it_is(api, tmp_path):  # noqa: F811
    """On a terminal only, and gone when it is done."""
    rows = tmp_path / "many.csv"
    rows.write_text("type,name\n" + "".join(f"s3/Bucket,many-{number}\n" for number in range(1500)))
    assert bring_in(api.truce, "--apply", file=rows, source="by-hand").returncode == OK
    for command in (["export"], ["list", "--limit", "5000"]):
        arguments = [str(BINARY), *command, "--data-dir", str(api.truce.data)]
        watched, terminal = os.openpty()
        with os.fdopen(watched, "rb", buffering=0) as shown:
            done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=terminal, timeout=60, check=True)
            os.close(terminal)
            text = terminal_text(shown)
        assert text.startswith("\r1000 ") and text.endswith("\r\x1b[K"), (command, text)
        assert done.stdout.count(b"\n") >= 1503
        quiet = subprocess.run(arguments, capture_output=True, timeout=60, check=True)
        assert (quiet.stdout, quiet.stderr) == (done.stdout, b"")


def test_shares_as_manifests(api):  # noqa: F811
    truce = api.truce
    for name, level in (("team-b", "attach"), ("team-c", "observe")):
        given = truce.command("share", "s3/Bucket/prod-one", "--with", name, "--level", level,
                              "--for", "30d", "--reason", "reads: it")
        assert given.returncode == OK, given.stderr
    assert truce.command("share", "s3/Bucket/prod-two", "--with", "team-b",
                         "--reason", "x").returncode == OK
    grants = list(yaml.safe_load_all(truce.command("export", "-o", "grants").stdout))
    assert [grant["kind"] for grant in grants] == ["OwnershipGrant"] * 2
    resources = [grant["spec"]["resource"] for grant in grants]
    named = [each.get("name") or each["arn"].rpartition(":")[2] for each in resources]
    by_resource = dict(zip(named, grants, strict=True))
    one = by_resource["prod-one"]
    assert one["metadata"]["namespace"] == "team-a"
    said = {share["namespace"]: (share["level"], share["reason"]) for share in one["spec"]["shares"]}
    assert said == {"team-b": ("attach", "reads: it"), "team-c": ("observe", "reads: it")}
    assert all(share["until"] for share in one["spec"]["shares"])
    assert "until" not in by_resource["prod-two"]["spec"]["shares"][0]
    assert truce.command("export", "-o", "grants", "-n", "team-z").stdout == ""
    assert truce.command("export", "-o", "grants", "--type", "s3/Bucket").returncode == USAGE


def test_a_copy_is_put_back(api, tmp_path):  # noqa: F811
    truce = api.truce
    copy = tmp_path / "registry.db"
    made = truce.command("backup", str(copy))
    assert made.returncode == OK, made.stderr
    assert made.stdout == f"{copy}: 3 ownerships and 3 lines of audit log, verified\n"
    assert copy.stat().st_mode & 0o077 == 0
    assert truce.command("backup", str(copy)).returncode == USAGE  # never over another file
    before = truce.command("export").stdout
    assert truce.command("restore", str(copy)).returncode == NO  # a server runs there
    assert bring_in(truce, "--apply").returncode == OK
    truce.stop()
    restored = truce.command("restore", str(copy))
    assert restored.returncode == OK, restored.stderr
    truce.start()
    assert truce.command("export").stdout == before


def run(*arguments: str, directory: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """A command far from the data directory."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("TRUCE_") and name not in ("HOME", "KUBECONFIG")}
    return subprocess.run([str(BINARY), *arguments], capture_output=True, timeout=60, check=False,
                          cwd=directory or "/", env=clean)


def test_a_copy_comes_over_the_network_and_as_a_stream(api, tmp_path):  # noqa: F811
    truce = api.truce
    for name in TOKENS:
        (tmp_path / name).write_text(TOKENS[name][1])
    server = ["--server", f"https://{api.address}", "--ca-file", str(truce.ca_file)]
    root, eve = ([*server, "--token-file", str(tmp_path / name)] for name in ("root", "eve"))
    copy = tmp_path / "far.db"
    made = run("backup", str(copy), *root)
    assert made.returncode == OK, made.stderr
    assert made.stdout.decode() == f"{copy}: 3 ownerships and 3 lines of audit log, verified\n"
    assert copy.stat().st_mode & 0o077 == 0
    assert run("backup", str(copy), *root).returncode == USAGE
    refused = run("backup", str(tmp_path / "eve.db"), *eve)
    assert refused.returncode == NO and b'user "eve" may not get backups' in refused.stderr
    piped = run("backup", "-", *root)
    assert piped.returncode == OK and piped.stderr == b"", piped.stderr
    beside = run("backup", "-", "--data-dir", str(truce.data))
    assert beside.returncode == OK and b"3 ownerships" in beside.stderr
    for number, stream in enumerate((piped.stdout, beside.stdout)):
        file = tmp_path / f"stream{number}.db"
        file.write_bytes(stream)
        assert truce.command("backup", "--verify", str(file)).returncode == OK
    assert run("backup", "-", *eve).stdout == b""
    causes = [line["cause"] for line in api.get("/api/v1/audit", action="administered").json["items"]]
    assert causes == ["took a copy of the registry, 3 ownerships"] * 2
    # Nothing of a copy stays, neither here nor there.
    assert not [file for folder in (tmp_path, truce.data) for file in folder.iterdir()
                if file.name.endswith(".part") or "handed-out" in file.name]
    assert not (tmp_path / "eve.db").exists()
    # No other process holds the registry up.
    assert api.get("/api/v1/resources:lookup", name="prod-one").status == 200
    truce.stop()
    assert run("backup", "-", "--data-dir", str(truce.data)).stdout[:15] == b"SQLite format 3"
    assert run("backup", str(tmp_path / "gone.db"), *root).returncode == UNREACHABLE
    with open("/dev/full", "wb") as full:
        failed = subprocess.run([str(BINARY), "backup", "-", "--data-dir", str(truce.data)], stdout=full,
                                stderr=subprocess.PIPE, timeout=60, check=False)
    assert failed.returncode == CANNOT_RUN and b"not whole" in failed.stderr
    truce.start()


def test_copies_in_a_folder_are_named_by_time_and_the_oldest_go(api, tmp_path):  # noqa: F811
    truce = api.truce
    folder = tmp_path / "copies"
    folder.mkdir()
    others = ["registry-notes.db", "registry-20250101T000000Z.db.part", "registry-2025-01-01.db"]
    old = [f"registry-2025010{day}T000000Z.db" for day in (1, 2, 3)]
    for name in others + old:
        (folder / name).write_text("old")
    made = truce.command("backup", str(folder), "--keep", "2")
    assert made.returncode == OK, made.stderr
    [fresh] = {file.name for file in folder.iterdir()} - set(others + old)
    assert re.fullmatch(r"registry-[0-9]{8}T[0-9]{6}Z[.]db", fresh)
    assert {file.name for file in folder.iterdir()} == {*others, old[-1], fresh}
    assert made.stdout.splitlines() == [
        f"{folder / fresh}: 3 ownerships and 3 lines of audit log, verified",
        f"{folder / old[0]}: removed", f"{folder / old[1]}: removed"]
    assert truce.command("backup", "--verify", str(folder / fresh)).returncode == OK
    assert truce.command("backup", str(tmp_path / "file.db"), "--keep", "2").returncode == USAGE
    assert truce.command("backup", "-", "--keep", "2").returncode == USAGE
    assert truce.command("backup", str(folder), "--keep", "0").returncode == USAGE


def test_a_bad_copy_is_refused(api, tmp_path):  # noqa: F811
    truce = api.truce
    copy = tmp_path / "registry.db"
    assert truce.command("backup", str(copy)).returncode == OK
    damaged = tmp_path / "damaged.db"
    content = bytearray(copy.read_bytes())
    for place in range(4096, len(content), 4096):
        content[place:place + 200] = b"\xff" * 200
    damaged.write_bytes(content)
    assert truce.command("backup", "--verify", str(damaged)).returncode == CANNOT_RUN
    nothing = tmp_path / "nothing.db"
    shutil.copy(STATE, nothing)
    for bad, code in ((damaged, CANNOT_RUN), (nothing, CANNOT_RUN), (tmp_path / "none", USAGE)):
        truce.stop()
        result = truce.command("restore", str(bad))
        assert result.returncode == code, result.stderr
        assert len(result.stderr.splitlines()) == 1
        truce.start()
        assert truce.command("who-owns", "prod-one").returncode == OK


def test_doctor(api):  # noqa: F811
    looked = api.truce.command("doctor")
    assert looked.returncode == OK, looked.stderr
    assert "[ok]   store: the registry can be written" in looked.stdout
    assert "[warn] cluster: the server follows no cluster" in looked.stdout
    assert "start it with --kubeconfig or --in-cluster" in looked.stdout
    assert api.truce.command("doctor", "--fail-on-warn").returncode == 4


def test_who_owns_what_a_manifest_declares(api, tmp_path):  # noqa: F811
    manifest = tmp_path / "manifests.yaml"
    manifest.write_text("".join(f"---\n{json.dumps(objects.claim('x', 'team-z', name))}\n"
                                for name in ("prod-one", "prod-two", "free-name")))
    found = api.truce.command("who-owns", "-f", str(manifest), "-o", "name")
    assert (found.returncode, found.stdout) == (OK, "s3/Bucket/prod-one\ns3/Bucket/prod-two\n")
    assert api.truce.command("who-owns", "-f", str(manifest), "x").returncode == USAGE
    bomb = "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 30))
    manifest.write_text("a0: &a0 [x, x]\n" + bomb)
    bomb = api.truce.command("who-owns", "-f", str(manifest))
    assert bomb.returncode == USAGE and "values" in bomb.stderr


def test_who_owns_a_manifest_by_its_further_names(api, tmp_path):  # noqa: F811
    def queue(name: str, provider_config: str) -> dict:
        made = objects.queue(name, "jobs")
        url = "https://sqs.us-east-1.amazonaws.com/111111111111/jobs"
        made["metadata"]["annotations"] = {"crossplane.io/external-name": url}
        made["spec"]["forProvider"]["region"] = "us-east-1"
        made["spec"]["providerConfigRef"] = {"name": provider_config}
        return made

    with api.truce.reviewer() as reviewer:
        status, response = reviewer.review(creation(queue("first", "one")))
        assert status == 200 and response["allowed"], response
    manifest = tmp_path / "queue.yaml"
    manifest.write_text(json.dumps(queue("second", "two")))
    found = api.truce.command("who-owns", "-f", str(manifest))
    assert found.returncode == OK and "Queue first" in found.stdout, found.stderr
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}))
    unclear = api.truce.command("who-owns", "-f", str(manifest))
    assert unclear.returncode == USAGE and "declare no resource" in unclear.stderr


def test_inputs_beyond_all_bounds(cli, tmp_path):
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.write(b'{"format_version":"1.0","values":{"root_module":{"resources":[' + b"[" * 1000)
        file.truncate(129 << 20)
    over = cli("import", str(large), "--source", "x")
    assert over.returncode == USAGE and "larger than 128 MiB" in over.stderr
    deep = tmp_path / "deep.json"
    deep.write_bytes(b'{"format_version":"1.0","values":' + b'{"a":' * 100_000)
    assert cli("import", str(deep), "--source", "x").returncode == USAGE
    unreadable = tmp_path / "none.json"
    assert "cannot be read" in cli("import", str(unreadable), "--source", "x").stderr
    assert cli("import", str(tmp_path), "--source", "x").returncode == USAGE


def test_a_reader_that_goes_away(api):  # noqa: F811
    command = [str(BINARY), "export", "--data-dir", str(api.truce.data)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=30,
                          check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (CANNOT_RUN, "")
