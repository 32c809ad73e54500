"""Arguments, configuration, output and exit codes of every command that needs no server."""

import json
import re
from pathlib import Path

import pytest

OK, NO, USAGE, UNREACHABLE, CANNOT_RUN = 0, 1, 2, 3, 5
ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINE = r"^  ([a-z][a-z-]*) {2,}\S"  # of the list in `truce --help`


def complaint(result) -> str:
    """The one line on standard error; nothing may be on standard output."""
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("truce: ")
    return lines[0].removeprefix("truce: ")


def test_version(cli):
    result = cli("--version")
    assert result.returncode == OK
    assert result.stdout.startswith("truce ")
    assert result.stderr == ""


def test_version_for_machines(cli):
    about = json.loads(cli("--version", "-o", "json").stdout)
    assert f"truce {about['version']}\n" == cli("--version").stdout == cli("version").stdout
    assert {"cpp-httplib", "sqlite", "openssl"} < set(about["libraries"])
    for name, version in about["libraries"].items():
        assert name == "re2" or re.fullmatch(r"\d+(\.\d+)+", version), name
    # Only a release knows its commit: any other build would soon name the wrong one.
    assert set(about) == {"version", "commit", "buildDate", "compiler", "libraries"}
    assert cli("--version", "-o", "xml").returncode == USAGE


def test_help_lists_commands_and_exit_codes(cli):
    result = cli("--help")
    assert result.returncode == OK
    for word in ("serve", "config", "types", "explain", "confirm", "release", "Exit codes:"):
        assert word in result.stdout
    bare = cli()
    assert bare.returncode == USAGE
    assert bare.stdout == ""
    assert bare.stderr == result.stdout


def commands_of(cli) -> list[str]:
    return re.findall(COMMAND_LINE, cli("--help").stdout, re.M)


ASK_NO_SERVER = {"serve", "config", "types", "explain", "backup", "restore", "completion",
                 "prepare-store", "migrate-store", "reference"}
NEEDS = {  # what a command wants to be told beside the server
    "check": ["manifest.yaml", "--server", "https://127.0.0.1:9", "--timeout", "1"],
    "confirm": ["Bucket.s3.aws.upbound.io", "team-a/b"],
    "release": ["s3/Bucket", "b", "--reason", "test"],
    "reserve": ["s3/Bucket/b", "--source", "test", "--for", "1h"],
    "who-owns": ["b"],
    "describe": ["b"],
    "share": ["b", "--with", "team-b", "--reason", "test"],
    "transfer": ["b"],
    "protect": ["b", "--reason", "test"],
    "import": ["list.csv", "--source", "csv:test"],
    "resolve": ["b"],
}


def test_without_a_server_every_command_that_asks_one_exits_3(cli):
    cli.file("list.csv", "type,name\ns3/Bucket,b\n")
    cli.file("manifest.yaml", "apiVersion: s3.aws.upbound.io/v1beta1\nkind: Bucket\n"
             "metadata: {name: a-bucket}\n")
    for command in sorted(set(commands_of(cli)) - ASK_NO_SERVER):
        where = [] if command == "check" else ["--data-dir", "nobody"]
        result = cli(command, *NEEDS.get(command, []), *where)
        assert result.returncode == UNREACHABLE, (command, result.stderr)


def test_every_command_has_help_with_examples(cli):
    commands = commands_of(cli)
    assert len(commands) >= 29
    for command in commands:
        result = cli(command, "--help")
        assert (result.returncode, result.stderr) == (OK, ""), command
        _, found, examples = result.stdout.partition("Example")
        assert found and f"truce {command}" in examples, command
        # Whoever mistypes it is told.
        typo = cli(command[:-1] + "~")
        assert typo.returncode == USAGE
        assert f"did you mean '{command}'?" in complaint(typo) or "did you mean" in complaint(typo)
        flag = cli(command, "--hlep")
        assert flag.returncode == USAGE and "did you mean '--help'?" in complaint(flag), command


@pytest.mark.parametrize(
    "args, message",
    [
        (["sevre"], "unknown command 'sevre'; did you mean 'serve'?"),
        (["frobnicate"], "unknown command 'frobnicate'; `truce --help` lists all commands"),
        (["--frob"], "unknown flag '--frob'; `truce --help` lists all commands"),
        (["serve", "--no-clutser"], "unknown flag '--no-clutser'; did you mean '--no-cluster'?"),
        (["serve", "--frob"], "unknown flag '--frob'; `truce serve --help` lists what it takes"),
        (["config", "word"], "unexpected argument 'word'; `truce config --help` lists what it takes"),
        (["config", "--mode", "strict"],
         "--mode: mode: 'strict' is not allowed; use one of off|audit|warn|enforce"),
        (["config", "--config", "missing.yaml"], "configuration file: missing.yaml: No such file or directory"),
        (["types", "--types", "missing.tsv"], "types: missing.tsv: No such file or directory"),
        (["serve", "--no-cluster", "--api-token-file", "missing", "--data-dir", "data"],
         "apiTokenFile: missing: No such file or directory"),
        (["serve", "--no-cluster", "--admission-bearer-file", "missing", "--data-dir", "data"],
         'admissionBearerFile: read "missing": No such file or directory'),
        (["config", "--api-address", "127.0.0.1:8443", "--admission-address", "127.0.0.1:8443"],
         "--api-address: apiAddress: is 127.0.0.1:8443, as admissionAddress is; give each a port of its own"),
        (["config", "--mode"], "--mode: needs a value"),
        (["list", "--shared=maybe"], '--shared: "maybe" is neither true nor false'),
        (["list", "--shared=99999999999999999999"],
         '--shared: "99999999999999999999" is neither true nor false'),
        (["check", "list.yaml", "--offline=maybe"], '--offline: "maybe" is neither true nor false'),
        (["config", "--in-cluster=maybe"], '--in-cluster: "maybe" is neither true nor false'),
        (["config", "--mode", "off", "--mode", "warn"], "--mode: is given more than once; keep one"),
        (["types", "--output", "xml"],
         '--output: "xml" is not one of table, wide, json, yaml, csv, ndjson, name, custom-columns=, jsonpath='),
        (["list", "--limit", "0"], '--limit: "0" is not a number from 1 to 1000000'),
        (["list", "--limit", "many"], '--limit: "many" is not a number from 1 to 1000000'),
        (["check", "list.yaml", "--offline"], "list.yaml:3: items of a List is not a list"),
        (["list", "--server", "https://127.0.0.1:1", "--ca-file", "missing"],
         '--ca-file: read "missing": No such file or directory'),
        (["list", "--server", "https://127.0.0.1:1", "--ca-file", "list.yaml"],
         '--ca-file: "list.yaml" holds no -----BEGIN CERTIFICATE-----'),
        (["list", "--server", "https://127.0.0.1:1", "--token-file", "missing"],
         '--token-file: read "missing": No such file or directory'),
        (["confirm"], "name either an object, as Bucket.s3.aws.upbound.io NAME, or a --key"),
        (["confirm", "Bucket", "x"],
         "name either an object, as Bucket.s3.aws.upbound.io NAME, or a --key"),
        (["release", "s3/Bucket", "--reason", "r"],
         "name either type and name, as s3/Bucket prod-artifacts, a --key, an --id, or --orphaned"),
        (["serve"],
         "no cluster is named: start it with --kubeconfig FILE, with --in-cluster in a Pod, or with "
         "--no-cluster to keep a registry without watching one"),
        (["serve", "--no-cluster", "--store", "postgres://u:hidden@host/db"],
         "--store: store: the URL holds a password, which logs and lists of processes show; remove it, and give it in "
         "storePasswordFile, by storePasswordCommand or in the file that PGPASSFILE names"),
        (["serve", "--no-cluster", "--in-cluster"],
         "--no-cluster: noCluster: only one of noCluster, inCluster and kubeconfig can be set"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_arguments_are_one_line_and_exit_2(cli, args, message):
    cli.file("list.yaml", "apiVersion: v1\nkind: List\nitems: 5\n")
    result = cli(*args)
    assert result.returncode == USAGE
    assert complaint(result) == message


def references(schema) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(references, schema))
    if not isinstance(schema, dict):
        return set()
    found = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
    return found.union(*map(references, schema.values()))


def test_the_schema_has_every_setting(cli):
    """Its properties come from the table of settings, what they hold from schema/config.defs.json."""
    schema = json.loads(cli("config", "--schema").stdout)
    keys = cli("config", "--keys").stdout
    assert list(schema["properties"]) == re.findall(r"^(\w+) \(", keys, re.M)
    in_the_file_only = re.findall(r"^(\w+) \(.*\n.*\n    in the file only", keys, re.M)
    assert {f"#/$defs/{name}" for name in in_the_file_only} <= references(schema["properties"])
    assert references(schema) == {f"#/$defs/{name}" for name in schema["$defs"]}
    assert schema["properties"]["compositeDenialCode"]["enum"] == [422, 403]
    assert cli("config", "--schema", "--keys").returncode == USAGE


@pytest.mark.parametrize("text, message", [
    ("mappings: [{group: a.example.org, kind: A, declares: [{type: s3/Buckett, parts: {name: spec.name}}]}]",
     "declares: no type 's3/Buckett'; did you mean 's3/Bucket'?"),
    ("mappings: [{group: a.example.org, kind: A, declares: [{type: s3/Bucket, parts: {nam: spec.name}}]}]", '"nam"'),
    ("typeModes: {s3/Buckett: warn}", "no type 's3/Buckett'"),
    ("rules: {naming-convention: {modes: [{mode: warn, type: s3/Buckett}]}}", "no type 's3/Buckett'"),
    ("rules: {naming-convention: {mode: audit}}\nnaming: {template: '{service}-{shoe}'}", "shoe"),
    ("naming: {template: '{service}-{env}'}", "has no effect while the rule is off"),
    ("exemptions: [{rule: naming-convention, service: shop, until: 2036-01-01T00:00:00Z, reason: r}]", "service"),
], ids=["type", "part", "mode", "scope", "template", "off", "exemption"])
def test_config_refuses_what_serve_refuses(cli, tmp_path, text, message):
    file = tmp_path / "truce.yaml"
    file.write_text(text + "\n")
    result = cli("config", "--config", str(file))
    assert result.returncode == USAGE
    assert message in complaint(result)
    served = cli("serve", "--no-cluster", "--data-dir", str(tmp_path / "data"), "--config", str(file))
    assert (served.returncode, complaint(served)) == (USAGE, complaint(result))


@pytest.mark.parametrize("args", [["config", "--mode"], ["explain"], ["release", "a/B", "n"],
                                  ["types", "--output", "xml"], ["config", "--mode", "off", "--mode", "warn"]])
def test_incomplete_arguments_are_one_line_and_exit_2(cli, args):
    result = cli(*args)
    assert result.returncode == USAGE
    assert complaint(result)


@pytest.mark.parametrize(
    "text, message",
    [
        ("mode: strict\n", "c.yaml:1: mode: 'strict' is not allowed; use one of off|audit|warn|enforce"),
        ("a:\n\tb\n", "c.yaml:2: "),
        ("mode: audit\nmode: warn\n",
         "c.yaml:2: the key 'mode' stands here a second time; the first is on line 1"),
        ("x: &a [1]\ny: *a\n", "c.yaml:1: anchors and aliases"),
        ("noClutser: true\n", "c.yaml:1: noClutser: unknown key; did you mean 'noCluster'?"),
        ("[" * 5000, "c.yaml:1: nested deeper than 32 levels"),
        (b"mode: \xff\n", "c.yaml:"),
        (b"mode: a\x00b\n", "c.yaml:"),
        ("clusterId: 42\n", "c.yaml:1: clusterId: '42' is not text to YAML; write it in quotes"),
        ("mappings:\n  - {group: g, kind: K, declares: [{type: s3/Bucket, parts: {name: status.x}}]}\n",
         "c.yaml:2: mappings[0].declares[0].parts.name: 'status.x' is not a path"),
    ],
)
def test_malformed_configuration_names_file_line_and_key(cli, text, message):
    result = cli("config", "--config", cli.file("c.yaml", text))
    assert result.returncode == USAGE
    assert complaint(result).startswith(message)


def test_a_kubeconfig_that_cannot_be_used_is_refused_at_start(cli):
    result = cli("serve", "--data-dir", "data", "--kubeconfig", "nowhere.yaml")
    assert result.returncode == USAGE
    assert complaint(result).endswith('nowhere.yaml": No such file or directory')
    torn = cli.file("kube.yaml", "apiVersion: v1\nkind: Config\ncurrent-context: prod\n")
    result = cli("serve", "--data-dir", "data", "--kubeconfig", torn)
    assert result.returncode == USAGE
    assert "prod" in complaint(result)


@pytest.mark.parametrize(
    "text, message",
    [
        ("mappings:\n  - {group: g, kind: K, declares: [{type: s3/Bucke, parts: {name: spec.x}}]}\n",
         "c.yaml:2: "),
        ("typeModes: {s3/Bukcet: audit}\n", "typeModes: no type 's3/Bukcet'"),
    ],
)
def test_what_the_catalogue_does_not_know_is_refused_at_start(cli, text, message):
    result = cli("serve", "--no-cluster", "--data-dir", "data", "--config", cli.file("c.yaml", text))
    assert result.returncode == USAGE
    assert complaint(result).startswith(message)


def test_config_tells_where_values_come_from(cli):
    name = cli.file("c.yaml", "mode: audit\nlogLevel: debug\nclusterId: from-file\n")
    result = cli("config", "--mode", "warn", TRUCE_CLUSTER_ID="from-env", TRUCE_CONFIG=name)
    assert result.returncode == OK
    lines = result.stdout.splitlines()
    assert "mode: warn  # --mode" in lines
    assert "clusterId: from-env  # TRUCE_CLUSTER_ID" in lines
    assert "logLevel: debug  # c.yaml:2" in lines
    assert "store: sqlite  # default" in lines
    again = cli("config", "--config", cli.file("again.yaml", result.stdout))
    assert again.returncode == OK
    strip = lambda text: [line.split("  # ")[0] for line in text.splitlines()]
    assert strip(again.stdout) == strip(result.stdout)


def test_config_lists_all_keys(cli):
    result = cli("config", "--keys")
    assert result.returncode == OK
    assert "--admission-address" in result.stdout
    assert "TRUCE_RESERVATION_TTL" in result.stdout


def test_mistyped_variable_is_a_warning(cli):
    result = cli("config", TRUCE_MOED="audit", TRUCE_NO="1", TRUCE_SERVICE_HOST="10.0.0.1")
    assert result.returncode == OK
    assert result.stderr == ("truce: warning: variable TRUCE_MOED is not known and has no effect; "
                             "did you mean 'TRUCE_MODE'?\n")


def test_types_of_a_word(cli):
    table = cli("types", "S3").stdout.splitlines()
    assert any(line.startswith("s3/Bucket ") for line in table)
    assert 2 < len(table) < 100 and all("s3" in line.lower() for line in table[1:])
    by_kind = cli("types", "bucketpolicy.s3.aws", "-o", "json")
    assert [each["type"] for each in json.loads(by_kind.stdout)["items"]] == ["s3/BucketPolicy"]
    none = cli("types", "no-such-word")
    assert none.returncode == NO
    assert complaint(none) == "no type or kind has 'no-such-word' in its name; `truce types` lists all"


def types_of(cli, flavour: str) -> list[dict]:
    return json.loads(cli("types", "--flavour", flavour, "-o", "json").stdout)["items"]


def test_types_of_a_flavour(cli):
    for item in types_of(cli, "ack"):
        assert item["kinds"] and all(kind["group"].endswith(".services.k8s.aws") for kind in item["kinds"])
    queue = json.loads(cli("types", "sqs/Queue", "--flavour", "ack", "-o", "json").stdout)["items"][0]
    assert queue["kinds"] == [{"group": "sqs.services.k8s.aws", "kind": "Queue"}]
    none = cli("types", "s3/BucketPolicy", "--flavour", "ack")
    assert none.returncode == NO
    assert complaint(none) == ("no type or kind of flavour ack has 's3/BucketPolicy' in its name; "
                               "`truce types` lists all")
    unknown = cli("types", "--flavour", "gcp")
    assert unknown.returncode == USAGE
    assert "--flavour" in complaint(unknown)


def test_the_figures_of_the_readme(cli):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = re.search(r"([\d,]+) AWS types of Crossplane's upjet providers, (\d+) also of the community provider, "
                        r"(\d+) of ACK", text)
    counted = [len(types_of(cli, flavour)) for flavour in ("upjet", "community", "ack")]
    assert [int(figure.replace(",", "")) for figure in figures.groups()] == counted


def test_types_as_table_and_json(cli):
    table = cli("types")
    assert table.returncode == OK
    header, *rows = table.stdout.splitlines()
    assert header.split() == ["TYPE", "SCOPE", "CERTAINTY", "CONFLICT", "KEY", "ATTACHMENT"]
    assert any(row.split()[:3] == ["s3/Bucket", "partition", "researched"] for row in rows)
    listed = json.loads(cli("types", "--output", "json").stdout)
    assert listed["kind"] == "TypeList"
    assert [item["type"] for item in listed["items"]] == [row.split()[0] for row in rows]
    bucket = next(item for item in listed["items"] if item["type"] == "s3/Bucket")
    assert {"group": "s3.aws.upbound.io", "kind": "Bucket"} in bucket["kinds"]


@pytest.mark.parametrize("word", ["s3/Bucket", "s3/bucket", "Bucket.s3.aws.upbound.io"])
def test_explain(cli, word):
    result = cli("explain", word)
    assert result.returncode == OK
    assert "s3/Bucket" in result.stdout
    assert "partition" in result.stdout


def test_explain_policy_has_a_configuration_or_says_that_it_has_none(cli):
    """Defaults are nobody's rules: a developer who asks over the network is told that nobody answers."""
    cli.file("bucket.yaml", "apiVersion: s3.aws.upbound.io/v1beta1\nkind: Bucket\nmetadata: {name: a-bucket}\n")
    ask = ["explain", "--policy", "-f", "bucket.yaml", "--data-dir", "none"]
    for words, variables in ((ask, {}), ([*ask, "--offline"], {}), (ask, {"TRUCE_SERVER": "https://127.0.0.1:1"})):
        result = cli(*words, **variables)
        assert (result.returncode, result.stdout) == (UNREACHABLE, ""), (words, result)
        assert "no server runs on none" in result.stderr and "--config" in result.stderr, result.stderr
    cli.file("truce.yaml", "mode: enforce\n")
    for words in ([*ask, "--config", "truce.yaml"], [*ask, "--offline", "--config", "truce.yaml"], [*ask, "--mode", "warn"]):
        result = cli(*words)
        assert result.returncode == OK and "duplicate-ownership" in result.stdout, (words, result)


def test_explain_of_an_unknown_type_is_no(cli):
    result = cli("explain", "s3/Bukcet")
    assert result.returncode == NO
    assert complaint(result) == "no type 's3/Bukcet'; did you mean 's3/Bucket'?"


def test_malformed_type_file_names_file_and_line(cli):
    result = cli("types", "--types", cli.file("t.tsv", "not a header\n"))
    assert result.returncode == USAGE
    assert complaint(result).startswith("t.tsv:1")


@pytest.mark.parametrize("args", [["confirm", "Bucket.s3.aws.upbound.io", "x"],
                                  ["release", "s3/Bucket", "x", "--reason", "r"]])
def test_commands_without_a_server_are_unreachable(cli, args):
    result = cli(*args, "--data-dir", "data")
    assert result.returncode == UNREACHABLE
    assert complaint(result).startswith("cannot reach the server at data/truce.sock: ")


def test_whom_to_ask_is_told_where_nothing_names_a_server(cli):
    result = cli("list", HOME=str(cli.directory), KUBECONFIG="")
    assert result.returncode == UNREACHABLE
    assert "name the server: with --server URL, with --kubeconfig FILE" in complaint(result)
