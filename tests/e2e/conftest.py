"""Fixtures of the end-to-end tests: a real API, and Truce behind its webhook."""

from pathlib import Path

import pytest

from e2e.histories import CONFIG, World
from support.cluster import Cluster, build_peers
from support.peers import of_this_run
from support.processes import wait_for
from support.truce_process import TruceProcess


OF_BUCKETS_AND_QUEUES = ("/apis/s3.aws.upbound.io/v1beta2/buckets",
                         "/apis/sqs.aws.upbound.io/v1beta1/queues")

_BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "truce-of-tests"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "truce-of-tests",
    },
    "subjects": [
        {"kind": "ServiceAccount", "name": "truce", "namespace": "truce-system"}
    ],
}


def _role(rules: list[dict]) -> dict:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "truce-of-tests"},
        "rules": rules,
    }


def pytest_sessionstart(session):
    # Here rather than in a fixture: the first run compiles for minutes and its progress must show.
    if session.config.option.collectonly or hasattr(session.config, "workerinput"):
        return
    capture = session.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        build_peers(of_this_run())


def _cluster(request, api_servers: int):
    failed_before = request.session.testsfailed
    cluster = Cluster(api_servers)
    try:
        cluster.start()
        cluster.apply_crds()
        yield cluster
    except BaseException:
        print(cluster.logs())
        cluster.stop(keep_logs=True)
        raise
    cluster.stop(keep_logs=request.session.testsfailed > failed_before)


@pytest.fixture(scope="session")
def cluster(request):
    """etcd and two API servers with the CRDs, shared by all tests of a run. Without webhook."""
    yield from _cluster(request, api_servers=2)


@pytest.fixture
def own_cluster(request):
    """etcd and one API server for one test that does to them what others would not survive."""
    yield from _cluster(request, api_servers=1)


@pytest.fixture
def started_truces(cluster):
    """The list of what the test started; that, and what it leaves in the cluster, is removed afterwards."""
    started = []
    yield started
    cluster.reset()
    for process in started:
        process.kill()


def _start(cluster, started: list[TruceProcess], directory: Path, failure_policy: str, **how) -> TruceProcess:
    """Starts Truce and registers its webhook unless `failure_policy` is empty."""
    directory.mkdir()
    process = TruceProcess(directory, **how)
    started.append(process)
    process.start()
    if failure_policy:
        cluster.register_webhook(process.admission_url, process.ca_file, failure_policy)
    return process


@pytest.fixture
def start_truce(cluster, started_truces, tmp_path):
    """A function that starts Truce with a given configuration and registers its webhook."""

    def start(config: dict | None = None, failure_policy: str = "Fail") -> TruceProcess:
        directory = tmp_path / f"truce-{len(started_truces)}"
        return _start(cluster, started_truces, directory, failure_policy, config=config)

    return start


@pytest.fixture
def follow(cluster, started_truces, tmp_path):
    """A function that starts Truce following the shared cluster, its webhook registered unless
    `failure_policy` is empty. Servers of one `cluster_id` may share a registry."""

    def start(
        config: dict | None = None,
        failure_policy: str = "Fail",
        user: str = "admin",
        env: dict[str, str] | None = None,
        cluster_id: str = "",
    ) -> TruceProcess:
        directory = tmp_path / f"following-{len(started_truces)}"
        return _start(cluster, started_truces, directory, failure_policy, config=config,
                      kubeconfig=cluster.kubeconfig(user), env=env, cluster_id=cluster_id)

    return start


@pytest.fixture
def truce(start_truce):
    """Truce as the tests configure it (the mapping of the platform's kinds), webhook registered."""
    return start_truce()


@pytest.fixture
def may(user):
    """A function that gives Truce's service account these rights and no others, in effect for
    `paths`."""
    admin, truce = user("admin"), user("truce")

    def give(rules: list[dict], paths: tuple[str, ...] = OF_BUCKETS_AND_QUEUES) -> None:
        admin.apply(_role(rules)).expect()
        for path in paths:
            group = path.split("/")[2]
            allowed = any(set(rule["apiGroups"]) & {"*", group} for rule in rules)
            wait_for(lambda: truce.request("GET", path).ok == allowed, 20, "rights in effect")

    admin.create(_BINDING).expect(201)
    yield give
    admin.delete(_BINDING)
    admin.delete(_role([]))


@pytest.fixture
def user(cluster):
    """A function that gives an actor's client: user("team-a"), user("admin", server=1)."""
    clients = []

    def client(name: str = "admin", server: int = 0):
        clients.append(cluster.client(name, server))
        return clients[-1]

    yield client
    for each in clients:
        each.close()


@pytest.fixture(params=[False, True], ids=["without-cluster", "following"])
def follows(request):
    """Of a history: whether Truce follows the cluster."""
    return request.param


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.rotating(1))], ids=["", "restart"])
def restarts(request):
    """Of a history: whether a new process gives the answers that matter."""
    return request.param


@pytest.fixture
def begin(follows, restarts, start_truce, follow, user, cluster):
    """A function that begins a history (`histories.py`) with a configuration; `how` as of follow."""

    def begun(config: dict, **how) -> World:
        truce = follow(config, failure_policy="", **how) if follows else start_truce(config, "")
        world = World(truce, cluster, user, follows, restarts)
        world.register()
        return world

    return begun


@pytest.fixture
def world(begin):
    return begin(CONFIG)
