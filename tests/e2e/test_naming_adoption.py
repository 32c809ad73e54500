"""How a team adopts the convention on a live cluster: what names there are, what enforcing would
refuse, which rule applies from where; then it enforces."""

import json

from support.objects import bucket, bucket_policy
from support.processes import wait_for
from support.verdicts import assert_refused

SERVICE = "app.kubernetes.io/part-of"


def of(service: str, name: str, external: str) -> dict:
    return bucket(name, external, labels={SERVICE: service})


def policy(mode: str) -> dict:
    return {
        "apiVersion": "truce.dev/v1alpha1",
        "kind": "NamingPolicy",
        "metadata": {"name": "adoption"},
        "spec": {
            "naming": {"template": "{service}-{env}-{type}"},
            "rules": {"naming-convention": {"mode": mode}},
            "exemptions": [
                {"rule": "naming-convention", "name": "old-*", "reason": "before the convention"}
            ],
        },
    }


def names_of(truce) -> dict:
    done = truce.command("baseline", "--names", "-o", "json")
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_from_audit_to_enforce(follow, user, tmp_path):
    admin, team = user(), user("team-a")
    for obj in (
        of("payments", "good", "payments-prod-bucket"),
        of("payments", "exempt", "old-files"),
        of("orders", "wrong", "orders-production-bucket"),
    ):
        team.create(obj).expect(201)
    theirs = bucket_policy("theirs", bucket="payments-prod-bucket")
    theirs["metadata"]["labels"] = {SERVICE: "orders"}
    user("team-b").create(theirs).expect(201)
    truce = follow({"drainGrace": "0s"})
    report = names_of(truce)
    assert not report["convention"] and report["violating"] == 0, report
    (use,) = report["uses"]
    assert (use["rule"], use["mode"]) == ("foreign-attachment", "warn"), use
    assert "payments-prod-bucket" in use["cause"] and "payments" in use["cause"], use

    admin.create(policy("audit")).expect(201)
    report = wait_for(
        lambda: (found := names_of(truce))["convention"] and found, 60, "the convention"
    )
    counts = {
        (item["service"], item["type"]): (item["conforming"], item["exempt"], item["violating"])
        for item in report["items"]
    }
    assert counts == {("orders", "s3/Bucket"): (0, 0, 1), ("payments", "s3/Bucket"): (1, 1, 0)}
    (wrong,) = report["violations"]
    assert (wrong["name"], wrong["suggested"]) == ("orders-production-bucket", "orders-prod-bucket")
    assert (wrong["rule"], wrong["mode"]) == ("naming-convention", "audit")
    text = truce.command("baseline", "--names")
    assert text.returncode == 1 and "orders-prod-bucket" in text.stdout, text.stderr
    whole = truce.command("baseline")  # no conflicts
    assert whole.returncode == 0 and "2 of 3" not in whole.stdout and "66 % done" in whole.stdout
    assert truce.command("baseline", "--names", "-o", "junit").returncode == 2

    # In audit nothing is refused, and what would have been is kept.
    team.create(of("orders", "second", "orders-production-files")).expect(201)
    trial = truce.command("simulate", "-o", "json")
    assert trial.returncode == 1, trial.stderr
    (kept,) = json.loads(trial.stdout)
    assert (kept["service"], kept["rule"], kept["mode"]) == ("orders", "naming-convention", "audit")
    assert "orders-prod-bucket" in kept["text"] and kept["count"] == 1

    # Which rule applies, from which object, and with which exemption.
    manifest = tmp_path / "bucket.yaml"
    manifest.write_text(json.dumps(of("orders", "third", "orders-production-bucket")))
    explained = truce.command("explain", "--policy", "-f", str(manifest))
    assert explained.returncode == 0, explained.stderr
    (line,) = [x for x in explained.stdout.splitlines() if x.startswith("  naming-convention")]
    assert line.split() == ["naming-convention", "audit", "NamingPolicy", "adoption"]
    assert "orders-prod-bucket" in explained.stdout
    manifest.write_text(json.dumps(of("payments", "third", "old-files")))
    explained = truce.command("explain", "--policy", "-f", str(manifest))
    assert "exempt by NamingPolicy adoption: before the convention" in explained.stdout
    offline = truce.command("explain", "--policy", "--offline", "-f", str(manifest))
    assert "NamingPolicy" not in offline.stdout, offline.stdout

    admin.patch(policy("enforce"), {"spec": policy("enforce")["spec"]}).expect(200)
    third = of("orders", "third", "orders-production-third")
    wait_for(lambda: not team.create(third, dry_run=True).ok, 60, "the rule refuses")
    assert_refused(team.create(third, dry_run=True), "orders-prod-bucket")
    team.create(of("orders", "third", "orders-prod-bucket"), dry_run=True).expect(201)
