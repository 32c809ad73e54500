#!/usr/bin/env python3
"""A real Kubernetes API with Truce behind it, to try kubectl on; Ctrl-C ends all of it."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.cluster import PEERS, Cluster, build_peers
from support.processes import StartError
from support.truce_process import BINARY, OBJECT_STORAGE_MAPPINGS, TruceProcess, require_binary

EXAMPLES = Path("tests/e2e/playground")
LOOK_SECONDS = 0.1


def main() -> int:
    # A closing terminal or a stopping job ends it as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    started = time.monotonic()
    cluster: Cluster | None = None
    truce: TruceProcess | None = None
    over = threading.Event()
    try:
        require_binary()
        build_peers(("etcd", "kube-apiserver", "kubectl"))
        say("starting etcd and kube-apiserver ...")
        cluster = Cluster(api_servers=1)
        cluster.start()
        say("applying the CRDs ...")
        cluster.apply_crds()
        say("starting Truce and registering its webhook ...")
        directory = cluster.directory / "truce"
        directory.mkdir()
        config = {"mappings": OBJECT_STORAGE_MAPPINGS, "drainGrace": "0s"}
        truce = TruceProcess(directory, config, kubeconfig=cluster.kubeconfig())
        truce.cluster_id = "playground"
        truce.start()
        cluster.register_webhook(truce.admission_url, truce.ca_file)
        say(f"ready after {time.monotonic() - started:.0f} s\n")
        print(guide(cluster, truce), flush=True)
        threading.Thread(target=tell_changes, args=(truce, over), daemon=True).start()
        return watch(cluster, truce)
    except KeyboardInterrupt:
        return 0
    except (StartError, RuntimeError, AssertionError) as error:
        say(f"failed: {error}")
        return 1
    finally:
        # A second Ctrl-C must not leave half of it running.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        over.set()
        if truce is not None:
            truce.stop()
        if cluster is not None:
            cluster.stop()
        say("everything has ended; nothing is left behind")


def guide(cluster: Cluster, truce: TruceProcess) -> str:
    programs = [BINARY.parent] if shutil.which("kubectl") else [BINARY.parent, PEERS]
    lines = [
        f"export KUBECONFIG={cluster.kubeconfig()}",
        f"export TRUCE_DATA_DIR={truce.data}",
        f"export PATH=$PATH:{':'.join(map(str, programs))}",
    ]
    return "\n".join(
        [
            "In another terminal, in this directory:",
            "",
            *(f"  {line}" for line in lines),
            f"  kubectl apply -f {EXAMPLES}/service-a.yaml    # the first declaration is admitted",
            f"  kubectl apply -f {EXAMPLES}/service-b.yaml    # the second one is refused",
            f"  kubectl apply -f {EXAMPLES}/bucket-b.yaml     # so is a managed resource",
            "  kubectl get claim,managed -A",
            "  truce list    # held: the watch has seen the claim",
            f"  kubectl delete -f {EXAMPLES}/service-a.yaml   # never made in AWS, so it is released",
            "  truce list    # nothing",
            f"  kubectl apply -f {EXAMPLES}/service-b.yaml    # now it is service-b's",
            "",
            "What becomes of each name is told below: reserved, held, released or orphaned.",
            "All of it in a browser: `truce page`.",
            "Which kinds are protected, who conflicts: `truce coverage` and `truce conflicts`.",
            f"Truce's log: {truce.log}",
            f"Its operator socket: {truce.data}/truce.sock",
            "Ctrl-C ends all of it.",
        ]
    )


def tell_changes(truce: TruceProcess, over: threading.Event) -> None:
    """Tells each state of each name, until it is over. A reservation lasts for milliseconds only;
    the audit log has it all the same."""
    told = 0
    reserved: set[str] = set()  # ids of resources
    try:
        while not over.wait(LOOK_SECONDS):
            _, page = truce.operator_get("/api/v1/audit", limit="1000")
            for line in reversed(page["items"]):
                if line["number"] <= told:
                    continue
                told = line["number"]
                if line["action"] == "granted":
                    root = line["root"]
                    place = "/".join(filter(None, (root.get("namespace"), root["name"])))
                    say(f"{name_in(line['key'])}: reserved for {root['kind']} {place}")
                    reserved.add(line["id"])
                elif line["action"] in ("released", "orphaned"):
                    say(f"{name_in(line['key'])}: {line['action']}, {line['cause']}")
                    reserved.discard(line["id"])
            _, page = truce.operator_get("/api/v1/resources", state="held", limit="1000")
            for resource in page["items"]:
                if resource["id"] in reserved:
                    say(f"{name_in(resource['key'])}: held, seen in the cluster")
                    reserved.remove(resource["id"])
    except (OSError, RuntimeError, ValueError, KeyError):
        return  # Truce has ended: the main thread tells.


def name_in(key: str) -> str:
    """`s3/Bucket|aws|||name=orders` as `s3/Bucket orders`."""
    return f"{key.partition('|')[0]} {key.rpartition('=')[2]}"


def watch(cluster: Cluster, truce: TruceProcess) -> int:
    """Waits for Ctrl-C; returns when something has died by itself."""
    os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    if not truce.running:
        say(f"Truce has ended by itself\n{truce.logs()}")
    else:
        say(f"the API has ended by itself\n{cluster.logs()}")
    return 1


def say(text: str) -> None:
    print(f"playground: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
