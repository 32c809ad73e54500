"""Which of the real servers and clients a run builds (.tools/peers.sh)."""

from __future__ import annotations

import os

ALWAYS = ("etcd", "kube-apiserver", "kubectl", "helm4", "argocd-sync", "actionlint", "go-template")
# They take minutes to build and few tests need them: those of one share at a commit (0, 1, … of four).
# A test that needs one says so: @pytest.mark.peer("gator").
ROTATING = (("helm3", "oauth2-proxy"), ("gator",), ("promtool",), ("crossplane",))


def of_this_run() -> tuple[str, ...]:
    share = os.environ.get("ROTATE", "all")
    return ALWAYS + (sum(ROTATING, ()) if share == "all" else ROTATING[int(share)])


# For what is written in Go and lives no longer than a test run: an API server spends a third of its processor
# time on collecting garbage unless it may hold on to more of it.
GO = {"GOGC": "300", "GOMEMLIMIT": "512MiB"}
