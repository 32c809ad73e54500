"""truce check: plans of Terraform and templates of CloudFormation, beside manifests."""

import json
import shutil
import subprocess
import sys

import pytest

from support import objects
from support.truce_process import BINARY, REPOSITORY
from system.test_api import api  # noqa: F401  (a fixture)
from system.test_check import BYTES_MAX, NO, OK, SECONDS_MAX, USAGE, WARNINGS, check, documents, remote  # noqa: F401

ACCOUNT = "123456789012"
SECRET = "hunter2"


def change(address: str, after: dict, actions=("create",), **more) -> dict:
    kind, name = address.split(".")[-2:]
    return {"address": address, "mode": "managed", "type": kind, "name": name.split("[")[0],
            "provider_name": "registry.terraform.io/hashicorp/aws",
            "change": {"actions": list(actions), "before": None, "after": after, "after_unknown": {}}} | more


def plan(*changes: dict, **more) -> str:
    return json.dumps({"format_version": "1.2", "terraform_version": "1.9.0",
                       "planned_values": {"root_module": {"resources": [
                           {"address": each["address"], "values": each["change"]["after"]} for each in changes]}},
                       "resource_changes": list(changes), "configuration": {}} | more)


def bucket(name: str) -> dict:
    return change("module.logs.aws_s3_bucket.this[0]", {"bucket": name, "force_destroy": False})


TEMPLATE = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters:
  Stage: {Type: String}
Resources:
  Artifacts:
    Type: AWS::S3::Bucket
    Properties:
      BucketName: !Sub "${Stage}-one"
"""


def test_a_plan_is_refused_with_its_address(check, api):  # noqa: F811
    flags, token = remote(api)
    (check.directory / "plan.json").write_text(plan(bucket("prod-one"), change("aws_sqs_queue.jobs", {"name": "jobs"})))
    command = ["plan.json", "--account", ACCOUNT, "--region", "eu-west-1", *flags]
    refused = check("", *command, **token)
    assert refused.returncode == NO, refused.stderr
    lines = refused.stdout.splitlines()
    assert lines[0].startswith('plan.json: error: S3 bucket "prod-one" is owned by'), lines
    assert lines[1] == "    in module.logs.aws_s3_bucket.this[0]", lines
    report = json.loads(check("", *command, "-o", "json", **token).stdout)
    assert [(each["object"], each["key"]) for each in report["declarations"]] == [
        ("module.logs.aws_s3_bucket.this[0]", "s3/Bucket|aws|||name=prod-one"),
        ("aws_sqs_queue.jobs", f"sqs/Queue|aws|{ACCOUNT}|eu-west-1|name=jobs")]
    for form in ("junit", "sarif", "github", "markdown"):
        text = check("", *command, "-o", form, **token).stdout
        assert "prod-one" in text and "module.logs.aws" in text, text
    assert check("", *command, "-n", "team-a", **token).returncode == OK, "its own namespace's"
    # From a pipe, and said to be one.
    assert check(plan(bucket("free")), *flags, **token).returncode == OK
    assert check(plan(bucket("prod-one")), "--plan", *flags, **token).returncode == NO
    assert api.get("/api/v1/resources:lookup", type="s3/Bucket", name="free").json["free"], "nothing is written"


def test_what_its_source_imported_is_its_own(check, api):  # noqa: F811
    flags, token = remote(api)
    body = {"source": "terraform:logs", "apply": True,
            "resources": [{"type": "s3/Bucket", "parts": {"name": "prod-logs"}}]}
    assert api.call("POST", "/api/v1/imports", body, {"If-Match": "*"}).status == 200
    own = check(plan(bucket("prod-logs")), "--source", "terraform:logs", *flags, **token)
    assert own.returncode == OK, own.stdout
    for source in (["--source", "terraform:other"], []):
        foreign = check(plan(bucket("prod-logs")), *source, *flags, **token)
        assert foreign.returncode == NO and "terraform:logs" in foreign.stdout, foreign.stdout
    assert check(plan(bucket("prod-one")), "--source", "terraform:logs", *flags, **token).returncode == NO


def test_names_against_the_convention(check):
    (check.directory / "truce.yaml").write_text(
        "naming:\n  mode: enforce\n  templates:\n    s3/Bucket: '{service}-{env}-{part}'\n  env: [prod]\n")
    refused = check(plan(bucket("Bad_Name")), "--offline")
    assert refused.returncode == NO and "[aws-name]" in refused.stdout, (refused.stdout, refused.stderr)
    assert "module.logs.aws_s3_bucket.this[0]" in refused.stdout


def test_a_template_is_refused_at_its_line(check, api):  # noqa: F811
    flags, token = remote(api)
    (check.directory / "template.yaml").write_text(TEMPLATE)
    unknown = check("", "template.yaml", *flags, "--fail-on-warn", **token)
    assert unknown.returncode == WARNINGS, unknown.stdout
    assert "template.yaml:9: warning: Truce cannot tell what Artifacts declares" in unknown.stdout
    assert "--parameter Stage=" in unknown.stdout
    refused = check("", "template.yaml", "--parameter", "Stage=prod", *flags, **token)
    assert refused.returncode == NO, refused.stderr
    assert refused.stdout.startswith('template.yaml:9: error: S3 bucket "prod-one" is owned by'), refused.stdout
    assert "    in Artifacts\n" in refused.stdout
    assert check("", "template.yaml", "--parameter", "Stage=dev", *flags, **token).returncode == OK
    wrong = check("", "template.yaml", "--parameter", "Stage", *flags, **token)
    assert wrong.returncode == USAGE and "NAME=VALUE" in wrong.stderr


def test_a_plan_may_bring_nothing(check):
    quiet = check(plan(), "--offline", "--fail-on-warn")
    assert (quiet.returncode, quiet.stdout) == (
        OK, "1 document, 0 declared resources: 0 errors, 0 warnings; the registry was not asked\n")
    strange = check(plan(change("aws_brand_new.x", {})), "--offline", "--fail-on-unknown")
    assert strange.returncode == WARNINGS
    assert "1 object of a kind Truce does not know: aws_brand_new [unknown-kind]" in strange.stdout
    assert "`truce types` lists what Truce knows" in strange.stdout


def test_a_folder_takes_all_of_them(check):
    folder = check.directory / "deploy"
    folder.mkdir()
    (folder / "a.yaml").write_text(documents(objects.bucket("mine", "one-bucket")))
    (folder / "plan.json").write_text(plan(bucket("one-bucket"), bucket("two-bucket")))
    (folder / "stack.yaml").write_text(TEMPLATE.replace("${Stage}-one", "two-bucket"))
    result = check("", "deploy", "--offline", "-o", "json")
    report = json.loads(result.stdout)
    assert result.returncode == NO, result.stderr
    assert [(each["file"], each["object"]) for each in report["findings"]] == [
        ("deploy/plan.json", "module.logs.aws_s3_bucket.this[0]"), ("deploy/stack.yaml", "Artifacts")]
    assert report["documents"] == 3


def test_what_cdk_writes(check):
    out = check.directory / "cdk.out"
    out.mkdir()
    (out / "manifest.json").write_text(json.dumps({"version": "36.0.0", "artifacts": {
        "App": {"type": "aws:cloudformation:stack", "environment": f"aws://{ACCOUNT}/eu-west-1",
                "properties": {"templateFile": "App.template.json"}}}}))
    (out / "tree.json").write_text("{}")
    (out / "App.template.json").write_text(json.dumps({"Resources": {
        "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "jobs"}},
        "CDKMetadata": {"Type": "AWS::CDK::Metadata", "Properties": {}},
        "Inner": {"Type": "AWS::CloudFormation::Stack", "Metadata": {"aws:asset:path": "AppInner.nested.template.json"},
                  "Properties": {"TemplateURL": {"Fn::Sub": "https://x"}, "Parameters": {"Name": "inner"}}}}}))
    (out / "AppInner.nested.template.json").write_text(json.dumps({
        "Parameters": {"Name": {"Type": "String"}},
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": {"Ref": "Name"}}}}}))
    result = check("", "cdk.out", "--offline", "-o", "json")
    assert result.returncode == OK, (result.stdout, result.stderr)
    assert [each["key"] for each in json.loads(result.stdout)["declarations"]] == [
        f"sqs/Queue|aws|{ACCOUNT}|eu-west-1|name=jobs", f"sns/Topic|aws|{ACCOUNT}|eu-west-1|name=inner"]


def test_what_the_real_cdk_wrote(check):
    """Stacks of a known and of no environment, a stage, a nested stack, names made of names that AWS makes."""
    out = check.directory / "cdk.out"
    shutil.copytree(REPOSITORY / "tests/system/cdk/cdk.out", out)
    asset = out / "asset.57fb8995"
    asset.mkdir()
    (asset / "deploy.yaml").write_text(documents(objects.bucket("mine", "prod-orders")))
    (out / "tree.json").write_text("{}")
    place = f"{ACCOUNT}|eu-west-1"
    known = [
        f"iam/Role|aws|{ACCOUNT}||name=orders-app",
        f"iam/RolePolicy|aws|{ACCOUNT}||role=orders-app|name=RoleDefaultPolicy5FFB7DAB",
        f"lambda/Function|aws|{place}|name=orders-app", f"lambda/Alias|aws|{place}|functionName=orders-app|name=live",
        f"cloudwatchevents/Rule|aws|{place}|eventBusName=default|name=nightly", f"ecs/Cluster|aws|{place}|name=orders",
        f"iam/User|aws|{ACCOUNT}||name=ci", f"kms/Alias|aws|{place}|name=orders", "s3/Bucket|aws|||name=prod-orders",
        f"s3/Bucket|aws|||name=logs-{ACCOUNT}-eu-west-1", f"sqs/Queue|aws|{place}|name=jobs.fifo",
        f"sns/Topic|aws|{place}|name=Data-orders", f"dynamodb/Table|aws|{place}|name=orders",
        f"secretsmanager/Secret|aws|{place}|name=orders/db", "s3/Bucket|aws|||name=prod-orders",
        "s3/Bucket|aws|||name=nested-bucket"]
    report = json.loads(check("", "cdk.out", "--offline", "-o", "json").stdout)
    assert [each["key"] for each in report["declarations"]] == known
    found = [(each["severity"], each["object"], each["remedy"]) for each in report["findings"]]
    later = ": until then a second owner is not found."
    assert found == [
        ("warning", "KeyAlias910D852D", "Name it with --region" + later),
        ("error", "Bucket83908E77", "Give each its own name, or declare it once."),
        ("warning", "Logs6819BB44", "Name it with --account" + later),
        *(("warning", each, "Name it with --region" + later) for each in (
            "Queue4A7E3555", "TopicBFC7AF6E", "TableCD117FA1", "SecretA720EF05")),
        ("note", "", ""), ("note", "", "Passed over. `truce types` lists what Truce knows.")], found
    elsewhere = check("", "cdk.out", "--offline", "-o", "json", "--account", "333333333333", "--region", "us-west-2")
    report = json.loads(elsewhere.stdout)
    assert [each["object"] for each in report["findings"] if each["severity"] != "note"] == ["Bucket83908E77"]
    assert "sns/Topic|aws|333333333333|us-west-2|name=other-orders" in [each["key"] for each in report["declarations"]]


def test_two_stacks_may_give_one_logical_id(check):
    for name in ("one.yaml", "two.yaml"):
        (check.directory / name).write_text(TEMPLATE)
    result = check("", "one.yaml", "two.yaml", "--offline", "--parameter", "Stage=prod")
    assert result.returncode == NO and "is declared twice in the input" in result.stdout + result.stderr, result


def test_what_powershell_writes(check):
    (check.directory / "plan.json").write_bytes(plan(bucket("prod-one")).encode("utf-16"))
    result = check("", "plan.json", "--offline")
    assert result.returncode == USAGE and "plan.json: is UTF-16" in result.stderr, result
    (check.directory / "plan.json").write_bytes(plan(bucket("prod-one")).encode("utf-8-sig"))
    assert "1 declared resource" in check("", "plan.json", "--offline").stdout


def test_a_nested_template_that_is_not_there_is_named(check):
    nests = "Resources: {A: {Type: AWS::CloudFormation::Stack, Properties: {TemplateURL: none.yaml}}}"
    result = check(nests, "--offline", "--fail-on-warn")
    assert result.returncode == 4, result
    assert "Truce cannot tell what A declares: its template none.yaml: cannot be read" in result.stderr + result.stdout


@pytest.mark.parametrize("text, word", [
    ('{"format_version":"9.0","resource_changes":[]}', "format version 9.0, which is not known"),
    ('{"format_version":"1.2","resource_changes":[', "ends in the middle"),
    ('{"format_version":"1.0","values":{}}', "`truce import` records it"),
    ("Resources: {A: {Type: AWS::S3::Bucket}, B: {}}", "resource B has no Type"),
    ("AWSTemplateFormatVersion: x\nResources: [a", "stdin:"),
    ("Resources: {A: &a {Type: x, B: *a}}", "names no anchor"),
])
def test_bad_input(check, text, word):
    result = check(text, "--offline")
    assert (result.returncode, word in result.stderr) == (USAGE, True), (text, result.stderr)


def test_import_says_what_a_plan_is(check):
    (check.directory / "plan.json").write_text(plan(bucket("prod-one")))
    done = subprocess.run([str(BINARY), "import", "plan.json", "--source", "x"], cwd=check.directory,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == USAGE and "it is a plan" in done.stderr and "`truce check`" in done.stderr, done.stderr


def test_secrets_stay(check, api):  # noqa: F811
    """One in every field that names nothing; neither the server nor any report has it."""
    flags, token = remote(api)
    database = change("aws_db_instance.main", {"identifier": "main", "password": SECRET, "username": SECRET,
                                               "tags": {"a": SECRET}, "engine": SECRET})
    database["change"]["before_sensitive"] = SECRET
    text = plan(database, bucket("prod-one"), variables={"password": {"value": SECRET}},
                output_changes={"x": {"after": SECRET}},
                configuration={"provider_config": {"aws": {"expressions": {"secret_key": {"constant_value": SECRET}}}}})
    stack = TEMPLATE.replace("{Type: String}", f"{{Type: String, Default: prod, Description: {SECRET}}}").replace(
        "    Properties:\n", f"    Metadata: {{a: {SECRET}}}\n    Properties:\n      Tags: [{{Key: a, Value: {SECRET}}}]\n")
    for sent in (text, stack):
        for form in ("text", "json", "sarif", "junit", "markdown", "github"):
            result = check(sent, "--account", ACCOUNT, "--region", "eu-west-1", "-o", form, *flags, **token)
            assert result.returncode == NO, result.stderr
            assert SECRET not in result.stdout + result.stderr
    assert SECRET not in api.truce.logs()
    for file in api.truce.data.iterdir():
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file


def test_a_large_plan(check):
    """100 MB, 10,000 resources: bounded time and memory."""
    filler = {f"attribute_{i}": "x" * 90 for i in range(25)}
    changes = [change(f"module.m.aws_s3_bucket.this[{i}]", {"bucket": f"bucket-{i}", "timeouts": None, **filler})
               for i in range(10_000)]
    text = plan(*changes, prior_state={"values": {"root_module": {"resources": [
        {"address": f"x{i}", "values": filler} for i in range(15_000)]}}})
    (check.directory / "plan.json").write_text(text)
    assert len(text) > 100_000_000, len(text)
    measure = ("import json, resource, subprocess, sys; "
               "done = subprocess.run(sys.argv[1:], capture_output=True, text=True); "
               "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
               "print(json.dumps([done.returncode, done.stdout, used.ru_utime + used.ru_stime,"
               " used.ru_maxrss * 1024]))")
    done = subprocess.run([sys.executable, "-c", measure, str(BINARY), "check", "--offline", "plan.json"],
                          cwd=check.directory, capture_output=True, check=True, timeout=120)
    code, output, seconds, memory = json.loads(done.stdout)
    assert (code, output.splitlines()[-1].split(":")[0]) == (OK, "1 document, 10000 declared resources")
    print(f"{len(text) / 1e6:.0f} MB: {seconds:.2f} s of CPU, {memory / 2**20:.0f} MiB")
    assert seconds < SECONDS_MAX and memory < BYTES_MAX, (seconds, memory)
