"""The registry in PostgreSQL, on a real server: what is acknowledged stays, one server of a cluster is active, and what is
wrong with the way there is one clear line."""

import json
import re
import signal
import time

import pytest

from support.buckets import grant, refused, review
from support.objects import bucket_review
from support.postgres import PORT
from support.processes import wait_for
from support.replicas import certificate
from support.silent_resolver import SilentResolver
from support.slow_link import SlowLink
from support.tls_front import TlsFront
from support.truce_process import TruceProcess

USAGE, CANNOT_RUN = 2, 5
LEASE_SECONDS = 15
REST_SECONDS = 0.08  # less than a round trip of the slowest link
WAIT_SECONDS = 45  # a lease, and a busy machine


def serve(cli, *args, **variables):
    addresses = [word for name in ("admission", "api", "metrics", "probes")
                 for word in (f"--{name}-address", "127.0.0.1:0")]
    return cli("serve", "--no-cluster", "--data-dir", "data", *addresses, *args, **variables)


def test_what_is_acknowledged_survives_restarts_kills_and_the_database(postgres, database, servers):
    server = servers(store=postgres.url(database))
    server.start()
    grant(server, "first")
    epoch = server.metric("truce_server_epoch")
    assert epoch > 0 and "first" in refused(server, "first")
    assert server.stop() == 0
    server.start()
    assert server.state("first") == "reserved"
    grant(server, "second")
    assert server.metric("truce_server_active") == 1 and server.metric("truce_server_epoch") == epoch, "it shares"
    server.kill()
    server.start()
    assert server.state("second") == "reserved"
    assert "second" in refused(server, "second")

    postgres.stop()
    status, _ = review(server, "third")
    assert status == 503, "neither allowed nor denied"
    status, _ = review(server, "first", "other")
    assert status == 503, "nothing is denied from memory"
    assert server.running
    postgres.start()
    wait_for(lambda: review(server, "third")[0] == 200, WAIT_SECONDS, "an answer after the database is back")
    assert all(server.state(name) == "reserved" for name in ("first", "second", "third"))
    assert postgres.sql(database, "SELECT count(*) FROM truce.owners") == "3"
    present = server.metrics_get("/metrics")[1]
    for family in ("truce_store_round_trip_seconds", "truce_store_repeats_total",
                   "truce_store_commits_in_doubt_total", "truce_store_missing_changes_total",
                   "truce_store_long_decisions_total"):
        assert f"# TYPE {family} " in present
    assert server.metric('truce_store_repeats_total{why="connection"}') >= 1
    assert server.metric("truce_store_missing_changes_total") == 0, "a restart loses nothing"


def test_a_grant_costs_two_round_trips_and_a_denial_one(postgres, database, servers):
    server = servers(store=postgres.url(database))
    server.start()
    grant(server, "first")

    def trips_of(act, *args) -> int:
        before = server.metric("truce_store_round_trip_seconds_count")
        act(server, *args)
        return int(server.metric("truce_store_round_trip_seconds_count") - before)

    def queue(server, name: str) -> None:
        """A type whose resources lie in an account, which is not known here."""
        text = json.dumps(bucket_review(name)).replace("s3.aws.upbound.io", "sqs.aws.upbound.io")
        with server.reviewer() as reviewer:
            status, response = reviewer.review(json.loads(text.replace("Bucket", "Queue").replace("buckets", "queues")))
        assert status == 200 and response["allowed"], response

    def proposed(server) -> None:
        text = json.dumps(bucket_review("first-other")).replace("s3.aws.upbound.io", "s3.aws.m.upbound.io")
        asked = json.loads(text)
        thing = asked["request"]["object"]["metadata"]
        asked["request"]["namespace"] = thing["namespace"] = "billing"
        thing["annotations"] = {"crossplane.io/external-name": "first"}
        with server.reviewer() as reviewer:
            _, response = reviewer.review(asked)
        assert 'for example "first-billing"' in response["status"]["message"]

    # What is due each minute may come between.
    assert min(trips_of(grant, f"granted-{number}") for number in range(5)) == 2
    assert min(trips_of(queue, f"queue-{number}") for number in range(5)) == 2
    assert min(trips_of(refused, "first") for _ in range(5)) == 1
    assert min(trips_of(proposed) for _ in range(5)) == 1


@pytest.mark.parametrize("milliseconds", [1, 10, 100])
def test_a_grant_takes_the_time_of_two_round_trips_and_a_denial_of_one(postgres, database, servers, milliseconds):
    link = SlowLink(postgres.folder, milliseconds / 2000)
    trip = milliseconds / 1000
    try:
        server = servers(store=link.url(database))
        server.start()
        grant(server, "first")

        def least(act, names, limit: float) -> float:
            """Seconds, of the quickest up to the first within the limit: the machine, and what is due each second,
            come between."""
            quickest = float("inf")
            for name in names:
                begin = time.monotonic()
                act(server, name)
                quickest = min(quickest, time.monotonic() - begin)
                if quickest < limit:
                    break
            return quickest

        granted = least(grant, [f"granted-{number}" for number in range(30)], 2 * trip + REST_SECONDS)
        denied = least(refused, ["first"] * 30, trip + REST_SECONDS)
        print(f"{milliseconds} ms: grant {granted * 1000:.1f} ms, denial {denied * 1000:.1f} ms")
        assert granted >= 2 * trip and denied >= trip
        # The rest is TLS with the caller and the work itself, as without latency.
        assert granted < 2 * trip + REST_SECONDS and denied < trip + REST_SECONDS
        server.stop()
    finally:
        link.stop()


def test_a_registry_of_another_cluster_is_refused_and_untouched(postgres, database, cli, servers):
    server = servers(store=postgres.url(database), clusterId="cluster-one")
    server.start()
    server.stop()
    contents = "SELECT * FROM truce.settings ORDER BY 1; SELECT * FROM truce.lease; SELECT count(*) FROM truce.audit"
    before = postgres.sql(database, contents)
    result = serve(cli, "--store", postgres.url(database), "--cluster-id", "cluster-two")
    assert result.returncode == CANNOT_RUN
    assert result.stderr.splitlines()[-1] == (
        'truce: the registry belongs to cluster "cluster-one", and this server speaks for "cluster-two": name its own '
        "database in --store, or start it with --cluster-id cluster-one")
    assert postgres.sql(database, contents) == before


def test_a_cluster_that_the_registry_knows_otherwise_is_refused_before_anything_is_written(
        postgres, database, servers, tmp_path, scripted_api):
    server = TruceProcess(tmp_path, config={"store": postgres.url(database), "storeDurability": "single"},
                          kubeconfig=scripted_api)
    server.start()
    server.stop()
    # As after a clone of the cluster, which got another kube-system.
    postgres.sql(database, "UPDATE truce.settings SET value = 'uid-of-another' WHERE name LIKE 'cluster/%/kube-system'")
    tables = postgres.sql(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'truce'").split()
    contents = "".join(f"SELECT * FROM truce.{table} ORDER BY 1;" for table in tables)
    before = postgres.sql(database, contents)
    server.start(wait_until_ready=False)
    wait_for(lambda: not server.running, WAIT_SECONDS, "the end of a server of another cluster")
    assert server.stop() == CANNOT_RUN
    last = server.log.read_text().splitlines()[-1]
    assert last.startswith("truce: the registry knows cluster ") and "uid-of-another" in last, last
    assert postgres.sql(database, contents) == before


def test_nothing_is_written_while_it_is_not_known_whose_cluster_this_is(postgres, database, tmp_path, scripted_api):
    away = tmp_path / "kubeconfig"
    away.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", scripted_api.read_text()))
    server = TruceProcess(tmp_path, config={"store": postgres.url(database), "storeDurability": "single"},
                          kubeconfig=away)
    server.start(wait_until_ready=False)
    wait_for(lambda: server.data.joinpath("addresses.json").exists(), WAIT_SECONDS, "listening")
    wait_for(lambda: "whose cluster this is" in server.metrics_get("/readyz")[1], WAIT_SECONDS,
             "the reason in readiness")
    assert postgres.sql(database, "SELECT count(*) FROM truce.lease") == "0"
    assert server.stop() == 0


@pytest.mark.parametrize("program", [False, True], ids=["file", "program"])
def test_the_password_comes_from_a_file_or_a_program(postgres, database, servers, tmp_path, program):
    user = f"login_{database}"
    postgres.sql(database, f"CREATE ROLE {user} LOGIN PASSWORD 'first'; GRANT CREATE ON DATABASE {database} TO {user}")
    secret = tmp_path / "password"
    secret.write_text("first\n")
    how = {"storePasswordCommand": ["cat", str(secret)]} if program else {"storePasswordFile": str(secret)}
    server = servers(store=postgres.url(database, user), **how)
    server.start()
    grant(server, "name")
    # Rotated: new connections take the new one, no restart.
    secret.write_text("second\n")
    postgres.sql(database, f"ALTER ROLE {user} PASSWORD 'second'; SELECT pg_terminate_backend(pid) FROM "
                           f"pg_stat_activity WHERE usename = '{user}'")
    wait_for(lambda: review(server, "after")[0] == 200, WAIT_SECONDS, "a grant with the new password")
    assert "first" not in server.log.read_text() and "second" not in server.log.read_text()
    server.stop()
    postgres.sql(database, f"DROP OWNED BY {user}; DROP ROLE {user}")


def test_a_name_server_that_is_silent_holds_up_neither_the_other_hosts_nor_the_end(postgres, database, servers, tmp_path):
    server = servers(store=postgres.url(database).replace("host=", "host=primary.silent.test,"))
    server.env = SilentResolver(tmp_path).env
    server.start()
    grant(server, "name")
    assert "name" in refused(server, "name")
    begin = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - begin < LEASE_SECONDS


@pytest.mark.parametrize(("args", "message"), [
    (["--store", "postgres://truce@127.0.0.1:1/truce"],
     'connecting to PostgreSQL: connection to server at "127.0.0.1", port 1 failed: Connection refused'),
    (["--store", "postgres://truce@nowhere.invalid/truce"], "; look at the URL's host"),
    (["--store", "postgres://truce@/nothing?host=HOST"], 'database "nothing" does not exist; make it first'),
    (["--store", "postgres://stranger@/postgres?host=HOST"],
     "no password supplied; give it in storePasswordFile or by storePasswordCommand"),
    (["--store", "postgres://stranger@/postgres?host=HOST", "--store-password-file", "missing"],
     'storePasswordFile: read "missing": No such file'),
    (["--store", "postgres://stranger@/postgres?host=HOST", "--store-password-command", "false"],
     "storePasswordCommand: false ended with code 1"),
    (["--store", "postgres://truce@/postgres?host=HOST", "--store-durability", "required"],
     "(synchronous_standby_names is empty): grants may be lost with its machine"),
    (["--store", "postgres://truce@/postgres?host=HOST&options=-cdefault_transaction_read_only%3Don"],
     "it is a standby, or read-only; name the primary in the URL"),
], ids=["refused", "host", "database", "password", "file", "program", "durability", "standby"])
def test_what_is_wrong_with_the_way_there_is_one_line_and_exit_5(cli, postgres, args, message):
    result = serve(cli, *[word.replace("HOST", str(postgres.folder)) for word in args])
    assert result.returncode == CANNOT_RUN, result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("truce: ") and message in last, last


@pytest.mark.parametrize(("store", "message"), [
    ("postgres://truce:hidden@db/truce", "the URL holds a password"),
    ("postgres://truce@db/truce?password=hidden", "the URL holds a password"),
    ("postgres://db/truce", "the URL names no user or no database"),
    ("postgres://truce@db", "the URL names no user or no database"),
    ("postgres://truce@/truce", "the URL names no host"),
])
def test_a_url_that_cannot_be_right_is_a_wrong_setting_and_never_repeated(cli, store, message):
    result = serve(cli, "--store", store)
    assert result.returncode == USAGE and message in result.stderr
    assert "hidden" not in result.stdout + result.stderr
    if "password" in message:
        assert "storePasswordFile" in result.stderr and "PGPASSFILE" in result.stderr


def test_without_the_client_library_sqlite_serves_and_postgresql_says_what_to_install(cli, servers, tmp_path):
    broken = tmp_path / "libraries"
    broken.mkdir()
    (broken / "libpq.so.5").write_text("")
    result = serve(cli, "--store", "postgres://truce@db/truce", LD_LIBRARY_PATH=str(broken))
    assert result.returncode == CANNOT_RUN and "install the package libpq5" in result.stderr.splitlines()[-1]
    server = TruceProcess(tmp_path, env={"LD_LIBRARY_PATH": str(broken)})
    with server:
        grant(server, "name")


def test_roles_are_made_once_and_the_server_needs_no_more_than_its_own(postgres, database, cli, servers, tmp_path):
    script = cli("prepare-store", "--roles")
    assert script.returncode == 0
    for _ in range(2):
        postgres.sql(database, script.stdout)
    postgres.sql(database, "ALTER ROLE truce_migrate PASSWORD 'm'; ALTER ROLE truce_app PASSWORD 'a'")
    password = {name: tmp_path / name for name in ("migrate", "app")}
    for name, file in password.items():
        file.write_text(name[0])
    server = servers(store=postgres.url(database, "truce_app"), storePasswordFile=str(password["app"]))
    server.start(wait_until_ready=False)
    wait_for(lambda: not server.running, WAIT_SECONDS, "the end of a server that may not make tables")
    assert server.stop() == CANNOT_RUN and "let `truce prepare-store` make the tables" in server.log.read_text()
    for _ in range(2):
        done = cli("prepare-store", "--store", postgres.url(database, "truce_migrate"), "--store-password-file",
                   str(password["migrate"]))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "the tables of schema truce are those of this version\n"
    server.start()
    grant(server, "name")
    assert postgres.sql(database, "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'truce'") == "truce_owner"
    usage = cli("prepare-store")
    assert usage.returncode == USAGE and "store 'sqlite' needs no preparation" in usage.stderr


def test_backup_says_where_copies_of_a_database_come_from(cli, postgres, database):
    result = cli("backup", "copy.db", TRUCE_STORE=postgres.url(database))
    assert result.returncode == USAGE and "use pg_dump" in result.stderr


def test_the_server_says_which_store_a_copy_is_of(cli, postgres, database, servers):
    """A file that was left in the data directory is not the registry of the server that runs there."""
    server = servers()
    server.write_config({"logFormat": "json"})
    server.start()
    grant(server, "before")
    before = server.directory / "before.db"
    assert server.command("backup", str(before)).returncode == 0
    assert server.stop() == 0
    server.write_config({"logFormat": "json", "store": postgres.url(database)})
    server.start()
    data = str(server.data)
    copy = server.directory / "copy.db"
    for command in (["backup", str(copy)], ["backup", "-"], ["restore", str(before)]):
        result = cli(*command, "--data-dir", data)
        assert result.returncode == USAGE and "use pg_dump" in result.stderr, (command, result)
        assert result.stdout == "" and not copy.exists(), command
    # A server that was killed says nothing any more; its socket is there.
    server.kill()
    assert cli("backup", str(copy), "--data-dir", data).returncode == 0


def test_readiness_and_doctor_name_what_the_database_does_not_promise(postgres, database, servers):
    server = servers(store=postgres.url(database), storeDurability="replicated")
    server.start()
    lines = [json.loads(line) for line in server.log.read_text().splitlines() if line[:1] == "{"]
    assert any(line["event"] == "durability" and "synchronous_standby_names" in line["message"] for line in lines)
    doctor = server.command("doctor").stdout
    assert "[warn] durability: " in doctor and "storeDurability" in doctor


def test_answers_in_long_records_of_tls_are_read_to_their_end(postgres, database, servers, tmp_path):
    many = 60
    files = certificate(tmp_path)
    with TlsFront(postgres.folder / f".s.PGSQL.{PORT}", *files) as front:
        server = servers(store=f"postgres://truce@127.0.0.1:{front.port}/{database}"
                               f"?sslmode=verify-full&sslrootcert={files[0]}")
        server.start()
        for number in range(many):
            grant(server, f"bucket-{number}")
        listed = server.command("list", "--limit", str(many))
        assert listed.returncode == 0, listed.stderr
        assert listed.stdout.count("bucket-") >= many
