"""What a decision or a search reads in PostgreSQL does not grow with the registry, a decision also by plans that a
connection made when it was empty."""

from support.buckets import grant, refused
from support.many_buckets import fill

PLANNED = 40  # on each of the server's connections
OWNERSHIPS = 3000
DECISIONS = 40
ROWS_MAX = 200  # that one decision reads


def rows_read(postgres, database) -> int:
    return int(postgres.sql(database, """
        SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'truce' AND relname <> 'replicas')
             + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'truce')"""))


def test_plans_of_an_empty_registry_stay_right(postgres, database, servers):
    postgres.set("autovacuum", "off")  # which would have them made anew, some minute
    server = servers(store=postgres.url(database))
    server.start()
    grant(server, "name")
    for number in range(PLANNED):
        grant(server, f"early-{number}")
    fill(postgres, database, OWNERSHIPS, analyze=False)
    # Connections tell what they did at the latest when they end.
    postgres.sql(database, "SELECT pg_stat_reset()")
    for number in range(DECISIONS):
        grant(server, f"late-{number}")
        assert "early" in refused(server, f"early-{number}")
    assert server.stop() == 0
    assert rows_read(postgres, database) < 2 * DECISIONS * ROWS_MAX


def test_a_search_by_name_reads_what_it_looks_at(postgres, database, servers):
    server = servers(store=postgres.url(database))
    server.start()
    grant(server, "name")
    fill(postgres, database, OWNERSHIPS)
    postgres.sql(database, "UPDATE truce.owners SET service = 'few' WHERE name LIKE 'n29_'; ANALYZE")
    postgres.sql(database, "SELECT pg_stat_reset()")
    for _ in range(DECISIONS):
        for words in (["--name", "N292*"], ["--name", "*92*", "--service", "few"]):
            found = server.command("list", "-o", "name", *words)
            assert "s3/Bucket/n292" in found.stdout.split(), found.stderr
    assert server.stop() == 0
    assert rows_read(postgres, database) < 2 * DECISIONS * ROWS_MAX
