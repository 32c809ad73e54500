"""A trial run: what audit found is kept over a restart, and `truce simulate` prints it."""

import json

from support import objects
from support.truce_process import TruceProcess
from system.test_api import creation

OK, NO, USAGE = 0, 1, 2
CONFIG = {
    "mode": "audit",
    "rules": {"naming-convention": {"mode": "warn"}},
    "drainGrace": "0s",
}
LABELS = {"app.kubernetes.io/part-of": "payments"}


def test_what_enforcing_would_have_refused(tmp_path):
    with TruceProcess(tmp_path, CONFIG) as truce:
        nothing = truce.command("simulate", "--since", "7d", "--mode", "enforce")
        assert nothing.returncode == OK, nothing.stderr
        assert "would have refused nothing" in nothing.stdout
        with truce.reviewer() as reviewer:
            owner = objects.bucket("one", "payments-prod-bucket", labels=LABELS)
            other = objects.bucket("two", "payments-prod-bucket", labels=LABELS)
            wrong = [objects.bucket(name, f"payments-testing-{name}", labels=LABELS) for name in ("three", "four")]
            # What has a name is not asked for it again.
            for obj in (owner, other, *wrong, *wrong):
                assert reviewer.review(creation(obj))[1]["allowed"]
        shown = truce.command("simulate", "--since", "7d", "--mode", "enforce")
        assert shown.returncode == NO, shown.stderr
        assert truce.stop() == 0
        truce.start()
        after = truce.command("simulate", "-o", "json")
        assert after.returncode == NO, after.stderr
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert ["SERVICE", "RULE", "REQUESTS", "OBJECTS", "LAST"] in rows
    assert ["payments", "duplicate-ownership", "1", "1"] in [row[:4] for row in rows]
    assert ["payments", "naming-convention", "2", "2"] in [row[:4] for row in rows]
    assert 'Name it "payments-test-bucket"' in shown.stdout
    kept = json.loads(after.stdout)
    assert {(item["rule"], item["mode"], item["count"]) for item in kept} == {
        ("duplicate-ownership", "audit", 1),
        ("naming-convention", "warn", 1),
    }


def test_bad_flags(cli):
    for bad in (["--since", "soon"], ["--since", "7"], ["--mode", "warn"], ["--what"]):
        assert cli("simulate", *bad).returncode == USAGE, bad
    shown = cli("simulate", "--help")
    assert shown.returncode == OK and "  truce simulate" in shown.stdout
