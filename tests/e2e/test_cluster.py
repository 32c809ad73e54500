"""The fixture itself: later tests may only be believed if this holds."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from support.cluster import ACTORS, Cluster
from support.objects import bucket
from support.processes import wait_for

TESTS = Path(__file__).resolve().parents[1]


def test_every_actor_speaks_for_itself_at_both_servers(cluster):
    for server in range(cluster.api_servers):
        for name, actor in ACTORS.items():
            done = cluster.kubectl("auth", "whoami", "-o", "json", user=name, server=server)
            assert done.returncode == 0, done.stderr
            assert f'"{actor.user}"' in done.stdout


def test_versions_are_the_ones_pinned(cluster):
    done = cluster.kubectl("version")
    assert "Client Version: v1.34.4" in done.stdout
    assert "Server Version: v1.34.4" in done.stdout


def test_the_servers_share_their_objects(cluster, user):
    obj = bucket("shared-by-both")
    user("team-a", server=0).create(obj).expect(201)
    assert user("team-b", server=1).get(obj).status == 200
    cluster.reset()
    assert user("team-b", server=1).get(obj).status == 404


def test_defaults_of_the_real_kinds_are_filled_in(cluster, user):
    spec = user("team-a").create(bucket("with-defaults"), dry_run=True).expect(201).body["spec"]
    assert spec["managementPolicies"] == ["*"]
    assert spec["deletionPolicy"] == "Delete"


def test_nothing_is_left_after_stop():
    cluster = Cluster(api_servers=1).start()
    pids = [child.pid for child in cluster._children]
    assert len(pids) == 2
    cluster.stop()
    assert not cluster.directory.exists()
    assert [pid for pid in pids if _alive(pid)] == []


def test_nothing_is_left_after_kill_9_of_the_test_run():
    program = textwrap.dedent(
        """
        import os, signal, sys
        sys.path.insert(0, sys.argv[1])
        from support.cluster import Cluster
        cluster = Cluster(api_servers=1).start()
        print(cluster.directory, *[child.pid for child in cluster._children], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(TESTS)], capture_output=True, text=True, timeout=120
    )
    directory, *pids = done.stdout.split()
    subprocess.run(["rm", "-rf", directory], check=True)
    assert len(pids) == 2, done.stderr
    wait_for(lambda: not any(_alive(int(pid)) for pid in pids), 10, "all children ended")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie of another parent is dead enough.
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
