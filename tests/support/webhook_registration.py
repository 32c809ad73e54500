"""The ValidatingWebhookConfiguration that puts Truce between the API server and its store."""

from __future__ import annotations

import base64
from pathlib import Path

from support.objects import WATCHED_GROUPS

CONFIGURATION = "truce"
DECLARATIONS = "declarations.truce.dev"  # The name that kubectl shows in a refusal.
FINALIZERS = "finalizers.truce.dev"
DELETIONS = "deletions.truce.dev"
CHECKS = "checks.truce.dev"
POLICIES = "policies.truce.dev"
STATUS = "status.truce.dev"
COMPOSITIONS = "compositions.truce.dev"

MARKER_NAMESPACE = "webhook-marker"
TIMEOUT_SECONDS = 5

# Drops only updates that change neither spec, annotations, labels nor owner references: four of five
# calls, and none that could add a declaration.
CHANGES_A_DECLARATION = (
    "request.operation != 'UPDATE'"
    " || has(object.spec) != has(oldObject.spec)"
    " || (has(object.spec) && object.spec != oldObject.spec)"
    " || (has(object.metadata.annotations) ? object.metadata.annotations : {})"
    " != (has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {})"
    " || (has(object.metadata.labels) ? object.metadata.labels : {})"
    " != (has(oldObject.metadata.labels) ? oldObject.metadata.labels : {})"
    " || (has(object.metadata.ownerReferences) ? object.metadata.ownerReferences : [])"
    " != (has(oldObject.metadata.ownerReferences) ? oldObject.metadata.ownerReferences : [])"
)
# Of those the ends of deletions, which nobody waits for.
CHANGES_FINALIZERS = (
    "has(object.metadata.deletionTimestamp)"
    " && (has(object.metadata.finalizers) ? object.metadata.finalizers : [])"
    " != (has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : [])"
)
ENDS_A_DELETION = [
    {"name": "changes-finalizers", "expression": CHANGES_FINALIZERS},
    {"name": "changes-nothing-else", "expression": f"!({CHANGES_A_DECLARATION})"},
]

# Who writes statuses by default, as the chart renders it.
NOT_WRITERS = {
    "not-providers": r"!request.userInfo.username.matches('(?s)^(?:"
    r"system:serviceaccount:crossplane-system:provider-.*"
    r"|system:serviceaccount:crossplane-system:upbound-provider-.*)$')",
    "not-restorers": r"!request.userInfo.username.matches('(?s)^(?:"
    r"system:serviceaccount:velero:velero"
    r"|system:serviceaccount:velero:velero-server"
    r"|system:serviceaccount:velero:.*-velero-server)$')",
}


def configuration(
    url: str, ca_file: Path, failure_policy: str, marker: str, own_kinds: bool = False,
    statuses: bool = False, compositions: bool = False,
) -> dict:
    """The whole configuration. `marker` names one more entry, see marker_entry(). `own_kinds`: with
    the entries about Truce's own kinds; `statuses`, `compositions`: with those for changes of
    statuses and Compositions."""
    client = {"url": url, "caBundle": base64.b64encode(ca_file.read_bytes()).decode()}
    common = {
        "clientConfig": client,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "matchPolicy": "Equivalent",
        "timeoutSeconds": TIMEOUT_SECONDS,
        # By the label that the API server sets itself, never by one that users may set.
        "namespaceSelector": {
            "matchExpressions": [
                {
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": ["kube-system", "truce-system"],
                }
            ]
        },
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": CONFIGURATION},
        "webhooks": [
            {
                **common,
                "name": DECLARATIONS,
                "failurePolicy": failure_policy,
                "rules": [_rule(["CREATE", "UPDATE"])],
                "matchConditions": [
                    {"name": "changes-a-declaration", "expression": CHANGES_A_DECLARATION}
                ],
            },
            {**common, "name": FINALIZERS, "failurePolicy": "Ignore", "rules": [_rule(["UPDATE"])],
             "matchConditions": ENDS_A_DELETION},
            # Nothing that Truce does not know may keep a user from deleting.
            {**common, "name": DELETIONS, "failurePolicy": "Ignore", "rules": [_rule(["DELETE"])]},
            *([_status_entry(client)] if statuses else []),
            *(_own_entries(client) if own_kinds else []),
            *([_composition_entry(client)] if compositions else []),
            marker_entry(marker),
        ],
    }


def _status_entry(client: dict) -> dict:
    return {
        "name": STATUS,
        "clientConfig": {**client, "url": client["url"] + "-status"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "failurePolicy": "Ignore",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "rules": [{**_rule(["UPDATE"]), "resources": ["*/status"]}],
        "matchConditions": [{"name": name, "expression": expression}
                            for name, expression in NOT_WRITERS.items()],
    }


def _composition_entry(client: dict) -> dict:
    return {
        "name": COMPOSITIONS,
        "clientConfig": {**client, "url": client["url"] + "-composition"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "failurePolicy": "Ignore",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "rules": [{"apiGroups": ["apiextensions.crossplane.io"], "apiVersions": ["*"],
                   "operations": ["UPDATE"], "resources": ["compositions"], "scope": "Cluster"}],
        "matchConditions": [{"name": "changes-the-spec",
                             "expression": "object.spec != oldObject.spec"}],
    }


def _own_entries(client: dict) -> list[dict]:
    common = {
        "clientConfig": {**client, "url": client["url"] + "-check"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "timeoutSeconds": TIMEOUT_SECONDS,
    }

    def rule(operations: list[str], *resources: str) -> dict:
        return {"apiGroups": ["truce.dev"], "apiVersions": ["*"], "operations": operations,
                "resources": list(resources)}

    return [
        {**common, "name": CHECKS, "failurePolicy": "Fail",
         "rules": [rule(["CREATE"], "ownershipchecks")]},
        {**common, "name": POLICIES, "failurePolicy": "Ignore",
         "rules": [rule(["CREATE", "UPDATE"], "declarationmappings", "namingpolicies")]},
    ]


def _rule(operations: list[str]) -> dict:
    # "*" covers every resource of the groups and none of their subresources.
    return {
        "apiGroups": WATCHED_GROUPS,
        "apiVersions": ["*"],
        "operations": operations,
        "resources": ["*"],
        "scope": "*",
    }


def marker_entry(name: str) -> dict:
    """An entry that refuses ConfigMaps of the marker namespace because nobody answers it. An API
    server that does so has loaded the configuration that holds it: registrations take effect
    asynchronously, and without a marker a test could pass because nothing was asked yet."""
    return {
        "name": name,
        "clientConfig": {"url": "https://127.0.0.1:1/marker"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
        "failurePolicy": "Fail",
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": MARKER_NAMESPACE}},
        "rules": [
            {
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["configmaps"],
            }
        ],
    }
