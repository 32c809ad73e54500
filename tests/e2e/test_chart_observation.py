"""Alerts and dashboard of the server chart: Prometheus' own tool takes them, they fire when they
should, and every metric of Truce they name is one that Truce has."""

import http.client
import json
import re
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
import yaml

from support.cluster import PEERS
from support.helm import SERVER_CHART, Helm, the
from support.truce_process import TruceProcess

CASES = Path(__file__).resolve().parent / "chart/alerts-test.yaml"
VALUES = {
    "admission": {"pathSecret": "0123456789abcdef0123456789abcdef"},
    "prometheusRule": {"enabled": True},
    "dashboard": {"enabled": True},
}
# Of the API server, of upjet's providers and of Crossplane.
OTHERS = re.compile(r"^(apiserver_admission_webhook|upjet_resource|crossplane_managed_resource)_")
METRIC = re.compile(r"\b(?:truce|process|apiserver|upjet|crossplane)_[a-z_]+\b")


@pytest.fixture
def objects(tmp_path):
    return Helm(4, tmp_path).objects(VALUES)


@pytest.fixture
def dashboard(objects):
    return json.loads(the(objects, "ConfigMap", "truce-dashboard")["data"]["truce.json"])


def page_of(truce: TruceProcess, path: str) -> tuple[int, str]:
    """GET on the API listener, without credentials."""
    host, port = json.loads((truce.data / "addresses.json").read_text())["api"].rsplit(":", 1)
    context = ssl.create_default_context(cafile=str(truce.ca_file))
    connection = http.client.HTTPSConnection(host, int(port), timeout=10, context=context)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def promtool(*args) -> str:
    done = subprocess.run([PEERS / "promtool", *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def queries(dashboard: dict) -> list[str]:
    return [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]


@pytest.mark.peer("promtool")
def test_the_alerts_fire_when_they_should(objects, tmp_path):
    rules = tmp_path / "alerts.yaml"
    rules.write_text(yaml.safe_dump(the(objects, "PrometheusRule")["spec"]))
    promtool("check", "rules", "--lint=all", "--lint-fatal", rules)
    shutil.copy(CASES, tmp_path)
    promtool("test", "rules", tmp_path / CASES.name)


def test_every_alert_is_tested_and_in_the_failure_card(objects):
    groups = the(objects, "PrometheusRule")["spec"]["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"]}
    fired = {
        case["alertname"]
        for test in yaml.safe_load(CASES.read_text())["tests"]
        for case in test["alert_rule_test"] if case.get("exp_alerts")
    }
    assert fired == alerts
    card = (SERVER_CHART.parents[1] / "docs/failure-card.md").read_text()
    for alert in alerts:
        assert f"`{alert}`" in card, alert


def test_an_alert_can_be_left_out_and_labelled(tmp_path):
    values = {**VALUES, "prometheusRule": {
        "enabled": True, "disabled": ["TruceSlow"], "alertLabels": {"team": "platform"},
        "runbookBase": "https://runbooks.example.org/truce"}}
    [group] = the(Helm(4, tmp_path).objects(values), "PrometheusRule")["spec"]["groups"]
    assert "TruceSlow" not in {rule["alert"] for rule in group["rules"]}
    for rule in group["rules"]:
        assert rule["labels"]["team"] == "platform"
        assert rule["annotations"]["runbook_url"] == f"https://runbooks.example.org/truce/{rule['alert']}"


def test_each_alert_links_to_a_page_that_truce_serves(tmp_path):
    values = {**VALUES, "publicURL": "https://truce.example.org/deep/"}
    [group] = the(Helm(4, tmp_path).objects(values), "PrometheusRule")["spec"]["groups"]
    with TruceProcess(tmp_path) as truce:
        for rule in group["rules"]:
            address = rule["annotations"]["runbook_url"].removeprefix("https://truce.example.org/deep")
            status, page = page_of(truce, address)
            assert status == 200, address
            assert f"<h1>{rule['alert']}</h1>" in page and "<dt>The one command</dt><dd>" in page
        status, everything = page_of(truce, "/runbook/")
        assert status == 200 and "<code>kubectl -n truce-system exec deployment/truce -- truce doctor</code>" in everything
        assert page_of(truce, "/runbook/Truce%3Cscript%3E")[0] == 404


def test_without_an_address_no_alert_has_a_link(objects):
    [group] = the(objects, "PrometheusRule")["spec"]["groups"]
    assert not any("runbook_url" in rule["annotations"] for rule in group["rules"])


@pytest.mark.peer("promtool")
def test_the_dashboards_queries_are_promql(dashboard, tmp_path):
    rules = [
        {"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "5m")}
        for number, expression in enumerate(queries(dashboard))
    ]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    promtool("check", "rules", file)


def test_the_dashboard_is_whole(dashboard):
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        if panel["type"] != "row":
            assert panel["targets"] and panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"


def test_every_metric_exists(objects, dashboard, tmp_path):
    with TruceProcess(tmp_path) as truce:
        present = truce.metrics_get("/metrics")[1]
    families = set(re.findall(r"^# TYPE (\S+)", present, re.MULTILINE))
    # These need a cluster: test_chart_install.py and test_watch_findings.py read them.
    families |= {"truce_self_management_trouble", "truce_findings", "truce_findings_muted",
                 "truce_brake_held_objects", "truce_brake_frozen_kinds", "truce_unlisted_kinds",
                 "truce_watch_stale_seconds"}
    # These need a database: test_postgres.py and test_postgres_cluster.py read them.
    families |= {"truce_watcher_leader", "truce_store_round_trip_seconds", "truce_store_repeats_total", "truce_store_commits_in_doubt_total",
                 "truce_store_missing_changes_total", "truce_store_long_decisions_total"}
    rules = [
        rule["expr"]
        for group in the(objects, "PrometheusRule")["spec"]["groups"] for rule in group["rules"]
    ]
    for expression in queries(dashboard) + rules:
        for metric in METRIC.findall(expression):
            family = re.sub(r"_(bucket|sum|count)$", "", metric)
            assert OTHERS.match(metric) or {metric, family} & families, metric


def test_every_label_value_exists(objects, tmp_path):
    """An alert on a cause or mode that Truce never counts would be silent for ever."""
    with TruceProcess(tmp_path) as truce:
        present = truce.metrics_get("/metrics")[1]
    for cause in ("store_full", "store_unavailable", "store_damaged", "not_ready", "overload"):
        assert f'truce_unknown_total{{cause="{cause}"}}' in present
    for mode in ("audit", "warn"):
        assert re.search(rf'truce_admission_findings_total{{rule="duplicate-ownership",mode="{mode}"}}', present)
