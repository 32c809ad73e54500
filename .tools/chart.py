#!/usr/bin/env python3
"""Writes those parts of the charts that follow from elsewhere, or tells that one is out of date.

  chart.py write BINARY    writes them
  chart.py check BINARY    exit 1 and the names of those that differ

BINARY is `truce`; from it come the groups of the catalogue (files/catalogue-groups.yaml), what
`config` may hold (values.schema.json, $defs) and who writes statuses by default
(files/status-writers.yaml). From webhook/config/keys.cc come the settings that take effect without
restart (files/reloading.yaml), from schema/crds the kinds that are installed (files/crds), from files/argocd/*.lua the patch that gives them to Argo
CD (files/argocd/argocd-cm.yaml), and from the comments "# --" of values.yaml the table of values in
README.md.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "charts/truce"
CHECK_CHART = ROOT / "charts/truce-check"
CONFIG_KEYS = ROOT / "webhook/config/keys.cc"
CRDS = ROOT / "schema/crds"

# What the chart itself sets, from values of their own.
CHART_SETS = {
    "dataDir", "store", "storePasswordFile", "storePasswordCommand", "storeDurability", "clusterId", "noCluster", "kubeconfig", "inCluster", "admissionAddress",
    "apiAddress", "metricsAddress", "probesAddress", "admissionSecretFile", "acceptSecretInErrors", "admissionClientCA",
    "admissionClientNames", "admissionBearerFile", "tlsCertFile", "tlsKeyFile", "serverNames",
    "publicURL", "webhookConfiguration", "certificateSecret", "leaseNamespace", "logFormat", "logLevel", "mode",
    "statusGuard", "denialEvents", "policyReports", "notifyUrlFile", "notifyForm",
}
TABLE = re.compile(r"(<!-- values: .*? -->\n).*?(<!-- end of values -->)", re.DOTALL)
# The kinds that each health check of Argo CD is for.
HEALTH = {
    "accepted": ("DeclarationMapping", "NamingPolicy", "OwnershipGrant"),
    "ownershipcheck": ("OwnershipCheck",),
}
LINE = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z]\w*):(?: (?P<value>.*))?$")


def catalogue_groups(binary: str) -> str:
    listed = subprocess.run(
        [binary, "types", "--output", "json"], check=True, capture_output=True, text=True).stdout
    types = json.loads(listed)["items"]
    groups = sorted({kind["group"] for item in types for kind in item["kinds"]})
    return "\n".join([
        "# Every API group of the catalogue: `truce types --output json`, by .tools/chart.py.",
        "groups:", *(f"  - {group}" for group in groups), ""])


def config_schema(binary: str) -> dict:
    return json.loads(subprocess.run(
        [binary, "config", "--schema"], check=True, capture_output=True, text=True).stdout)


def reloading_settings() -> str:
    entries = re.split(r"\bKey\{", CONFIG_KEYS.read_text(encoding="utf-8"))[1:]
    names = [re.search(r'"(\w+)"', entry)[1] for entry in entries if ".reloads = true" in entry]
    return "\n".join([
        "# Settings that take effect without restart: webhook/config/keys.cc, by .tools/chart.py.",
        "settings:", *(f"  - {name}" for name in names), ""])


def status_writers(config: dict) -> str:
    properties = config["properties"]
    lines = ["# Who may write statuses unless configured: `truce config --schema`, by .tools/chart.py."]
    for setting in ("providers", "restorers"):
        lines.append(f"{setting}:")
        lines += [f'  - "{pattern}"' for pattern in properties[setting]["default"]]
    return "\n".join([*lines, ""])


def argocd_patch() -> str:
    lines = ["# For Argo CD's ConfigMap argocd-cm: files/argocd/*.lua, by .tools/chart.py.", "data:"]
    for name, kinds in HEALTH.items():
        text = (CHART / f"files/argocd/{name}.lua").read_text(encoding="utf-8").splitlines()
        for kind in kinds:
            lines.append(f"  resource.customizations.health.truce.dev_{kind}: |")
            lines += [f"    {line}" for line in text]
    return "\n".join([*lines, ""])


def values_schema(config: dict) -> str:
    """values.schema.json with its `$defs` made from the schema of the configuration."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    schema["$defs"] = {
        "configuration": {
            "type": "object",
            "additionalProperties": False,
            "properties": {key: value for key, value in config["properties"].items()
                           if key not in CHART_SETS},
        },
        **config["$defs"],
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# A sentence ends before a capital letter or code; the meaning of an empty value stays with it.
SENTENCE_END = re.compile(r"[.] (?!Empty)(?=[A-Z`])")


def documented_values(text: str) -> list[tuple[str, str, str]]:
    """(path, default, description) of every value that has a comment, in the file's order."""
    rows, path, comment, block = [], [], "", -1
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.strip().startswith("# -- "):
            comment = line.strip()[len("# -- "):]
            continue
        found = LINE.match(line)
        depth = len(found["indent"]) // 2 if found else 99
        if not found or 0 <= block < depth:  # inside a documented block: part of its default
            continue
        block = -1
        path = [*path[:depth], found["key"]]
        if comment:
            default = found["value"] or ""
            if not default:
                block, default = depth, block_of(lines[number + 1:], depth)
            rows.append((".".join(path), default, comment))
            comment = ""
    return rows


def block_of(lines: list[str], depth: int) -> str:
    """The first lines' block of deeper indentation, as one line of a table."""
    taken = []
    for line in lines:
        if line.strip() and not line.startswith(" " * (2 * depth + 2)):
            break
        if line.strip():
            taken.append(line.strip())
    return "see values.yaml" if len(taken) > 2 else "; ".join(taken)


def readme(chart: Path) -> str:
    """README.md with the table of values: of each comment its first sentence; values.yaml has the rest."""
    rows = documented_values((chart / "values.yaml").read_text(encoding="utf-8"))
    cells = [f"| `{path}` | `{default}` | {SENTENCE_END.split(text)[0]} |".replace(" `see values.yaml` ", " see values.yaml ")
             for path, default, text in rows]
    table = "\n".join(["", "| value | default | what it is |", "|---|---|---|", *cells, "", ""])
    text = (chart / "README.md").read_text(encoding="utf-8")
    if not TABLE.search(text):
        raise SystemExit(f"{chart.name}/README.md: the markers of the table of values are missing")
    return TABLE.sub(lambda found: found[1] + table + found[2], text)


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        print(__doc__, file=sys.stderr)
        return 2
    config = config_schema(sys.argv[2])
    wanted = {
        CHART / "files/catalogue-groups.yaml": catalogue_groups(sys.argv[2]),
        CHART / "files/reloading.yaml": reloading_settings(),
        CHART / "files/status-writers.yaml": status_writers(config),
        CHART / "files/argocd/argocd-cm.yaml": argocd_patch(),
        CHART / "values.schema.json": values_schema(config),
        CHART / "README.md": readme(CHART),
        CHECK_CHART / "README.md": readme(CHECK_CHART),
        **{CHART / "files/crds" / file.name: file.read_text(encoding="utf-8")
           for file in sorted(CRDS.glob("*.yaml"))},
    }
    unwanted = [path for path in (CHART / "files/crds").glob("*.yaml") if path not in wanted]
    stale = [path for path, text in wanted.items()
             if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)} is out of date: .tools/chart.py write BINARY")
        if sys.argv[1] == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    for path in unwanted:
        print(f"{path.relative_to(ROOT)} has no source any more: .tools/chart.py write BINARY")
        if sys.argv[1] == "write":
            path.unlink()
    return 1 if (stale or unwanted) and sys.argv[1] == "check" else 0


if __name__ == "__main__":
    sys.exit(main())
