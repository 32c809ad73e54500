"""Kubernetes objects as the tests make them, and where the API serves each kind."""

from __future__ import annotations

from dataclasses import dataclass

EXTERNAL_NAME = "crossplane.io/external-name"
COMPOSITION_RESOURCE_NAME = "crossplane.io/composition-resource-name"
MANAGED_FINALIZER = "finalizer.managedresource.crossplane.io"
REGION = "us-west-2"


@dataclass(frozen=True)
class Kind:
    group: str
    versions: tuple[str, ...]
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """Group and the stored version."""
        return f"{self.group}/{self.versions[-1]}" if self.group else self.versions[-1]


def _kind(group: str, versions: str, kind: str, plural: str, namespaced: bool = False) -> Kind:
    return Kind(group, tuple(versions.split()), kind, plural, namespaced)


# The kinds of tests/e2e/crds and schema/crds.
CUSTOM_KINDS = (
    _kind("s3.aws.upbound.io", "v1beta1 v1beta2", "Bucket", "buckets"),
    _kind("s3.aws.upbound.io", "v1beta1", "BucketPolicy", "bucketpolicies"),
    _kind("s3.aws.m.upbound.io", "v1beta1", "Bucket", "buckets", True),
    _kind("s3.aws.m.upbound.io", "v1beta1", "BucketPolicy", "bucketpolicies", True),
    _kind("s3.aws.crossplane.io", "v1beta1", "Bucket", "buckets"),
    _kind("sqs.aws.upbound.io", "v1beta1", "Queue", "queues"),
    _kind("ec2.aws.upbound.io", "v1beta1", "SecurityGroup", "securitygroups"),
    _kind("sns.aws.upbound.io", "v1beta1", "Topic", "topics"),
    _kind("iam.aws.upbound.io", "v1beta1", "Role", "roles"),
    _kind("route53.aws.upbound.io", "v1beta1", "Record", "records"),
    _kind("route53.aws.upbound.io", "v1beta1", "Zone", "zones"),
    _kind("dynamodb.aws.upbound.io", "v1beta1 v1beta2", "Table", "tables"),
    _kind("s3.services.k8s.aws", "v1alpha1", "Bucket", "buckets", True),
    _kind("sqs.services.k8s.aws", "v1alpha1", "Queue", "queues", True),
    _kind("aws.upbound.io", "v1beta1", "ProviderConfig", "providerconfigs"),
    _kind("aws.m.upbound.io", "v1beta1", "ProviderConfig", "providerconfigs", True),
    _kind("aws.m.upbound.io", "v1beta1", "ClusterProviderConfig", "clusterproviderconfigs"),
    _kind("platform.example.org", "v1alpha1", "ObjectStorage", "objectstorages", True),
    _kind("platform.example.org", "v1alpha1", "XObjectStorage", "xobjectstorages"),
    _kind("truce.dev", "v1alpha1", "NamingPolicy", "namingpolicies"),
    _kind("truce.dev", "v1alpha1", "OwnershipGrant", "ownershipgrants", True),
    _kind("truce.dev", "v1alpha1", "DeclarationMapping", "declarationmappings"),
    _kind("truce.dev", "v1alpha1", "OwnershipCheck", "ownershipchecks", True),
)

_BUILT_IN_KINDS = (
    _kind(
        "apiextensions.crossplane.io",
        "v1",
        "CompositeResourceDefinition",
        "compositeresourcedefinitions",
    ),
    # Of tests/e2e/crossplane, for those that apply them.
    _kind("apiextensions.crossplane.io", "v1", "Composition", "compositions"),
    _kind("apiextensions.crossplane.io", "v1beta1", "Usage", "usages"),
    _kind("", "v1", "Namespace", "namespaces"),
    _kind("", "v1", "ConfigMap", "configmaps", True),
    _kind("", "v1", "ServiceAccount", "serviceaccounts", True),
    _kind("", "v1", "Event", "events", True),
    _kind("batch", "v1", "Job", "jobs", True),
    _kind("coordination.k8s.io", "v1", "Lease", "leases", True),
    _kind(
        "apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"
    ),
    _kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"),
    _kind("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings"),
    _kind(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
)

_KINDS = {(kind.group, kind.kind): kind for kind in CUSTOM_KINDS + _BUILT_IN_KINDS}

# The groups that Truce's webhook covers in the tests: the declarations, not the accounts.
WATCHED_GROUPS = sorted(
    {kind.group for kind in CUSTOM_KINDS} - {"aws.upbound.io", "aws.m.upbound.io", "truce.dev"}
)


def collection_path(obj: dict) -> str:
    """The URL path of the collection that the object belongs to."""
    api_version = obj["apiVersion"]
    group = api_version.split("/")[0] if "/" in api_version else ""
    kind = _KINDS[group, obj["kind"]]
    prefix = f"/apis/{api_version}" if group else f"/api/{api_version}"
    namespace = obj.get("metadata", {}).get("namespace", "")
    if kind.namespaced and namespace:
        prefix += f"/namespaces/{namespace}"
    return f"{prefix}/{kind.plural}"


def object_path(obj: dict, subresource: str = "") -> str:
    path = f"{collection_path(obj)}/{obj['metadata']['name']}"
    return f"{path}/{subresource}" if subresource else path


def bucket(name: str, external_name: str = "", version: str = "v1beta2", **metadata) -> dict:
    """A cluster-scoped S3 bucket. `metadata` is merged into its metadata (labels=…,
    annotations=…, finalizers=…, ownerReferences=…)."""
    return managed(f"s3.aws.upbound.io/{version}", "Bucket", name, external_name, **metadata)


def namespaced_bucket(name: str, namespace: str, external_name: str = "", **metadata) -> dict:
    obj = managed("s3.aws.m.upbound.io/v1beta1", "Bucket", name, external_name, **metadata)
    obj["metadata"]["namespace"] = namespace
    obj["spec"]["providerConfigRef"] = {"kind": "ClusterProviderConfig", "name": "prod"}
    return obj


def community_bucket(name: str, external_name: str = "") -> dict:
    obj = managed("s3.aws.crossplane.io/v1beta1", "Bucket", name, external_name)
    obj["spec"]["forProvider"] = {"locationConstraint": REGION}
    return obj


def ack(service: str, kind: str, name: str, namespace: str, spec: dict | None = None, **annotations: str) -> dict:
    """A resource of ACK. `annotations` are those of services.k8s.aws, with _ for -."""
    obj = {
        "apiVersion": f"{service}.services.k8s.aws/v1alpha1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "annotations": {
                f"services.k8s.aws/{key.replace('_', '-')}": text for key, text in annotations.items()
            },
        },
    }
    return obj if spec is None else {**obj, "spec": spec}


def managed(api_version: str, kind: str, name: str, external_name: str = "", **metadata) -> dict:
    """A managed resource of any kind. An empty name leaves it to generateName."""
    metadata = dict(metadata)
    if name:
        metadata["name"] = name
    if external_name:
        metadata["annotations"] = {
            **metadata.get("annotations", {}), EXTERNAL_NAME: external_name
        }
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": {"forProvider": {"region": REGION}, "providerConfigRef": {"name": "prod"}},
    }


def queue(name: str, queue_name: str) -> dict:
    obj = managed("sqs.aws.upbound.io/v1beta1", "Queue", name)
    obj["spec"]["forProvider"]["name"] = queue_name
    return obj


def bucket_policy(name: str, **for_provider) -> dict:
    obj = managed("s3.aws.upbound.io/v1beta1", "BucketPolicy", name)
    obj["spec"]["forProvider"].update(
        {"policy": '{"Version":"2012-10-17","Statement":[]}', **for_provider}
    )
    return obj


def claim(name: str, namespace: str, bucket_name: str, **metadata) -> dict:
    """The platform team's claim of the origin story: one bucket by name."""
    return {
        "apiVersion": "platform.example.org/v1alpha1",
        "kind": "ObjectStorage",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"parameters": {"name": bucket_name, "region": REGION}},
    }


def composite_definition() -> dict:
    """What makes XObjectStorage a composite, with claims ObjectStorage."""
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": "xobjectstorages.platform.example.org"},
        "spec": {
            "group": "platform.example.org",
            "names": {"kind": "XObjectStorage", "plural": "xobjectstorages"},
            "claimNames": {"kind": "ObjectStorage", "plural": "objectstorages"},
        },
    }


def composite(name: str, bucket_name: str, claim_object: dict | None = None, **metadata) -> dict:
    """The composite of a claim, or one of its own when there is none."""
    obj = {
        "apiVersion": "platform.example.org/v1alpha1",
        "kind": "XObjectStorage",
        "metadata": {"name": name, **metadata},
        "spec": {"parameters": {"name": bucket_name, "region": REGION}},
    }
    if claim_object:
        obj["spec"]["claimRef"] = {
            "apiVersion": claim_object["apiVersion"],
            "kind": claim_object["kind"],
            "name": claim_object["metadata"]["name"],
            "namespace": claim_object["metadata"]["namespace"],
        }
        obj["metadata"]["labels"] = claim_labels(claim_object)
    return obj


def claim_labels(claim_object: dict) -> dict:
    return {
        "crossplane.io/claim-name": claim_object["metadata"]["name"],
        "crossplane.io/claim-namespace": claim_object["metadata"]["namespace"],
    }


def controller_reference(owner: dict) -> dict:
    """The owner reference that a composite controller writes; `owner` as the API returned it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def object_reference(obj: dict) -> dict:
    """An entry of a composite's resourceRefs, or a claim's resourceRef."""
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "name": obj["metadata"]["name"]}


def bucket_review(name: str) -> dict:
    """A review of the creation of such a bucket, as no API server is needed to send it."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": f"review-{name}",
            "kind": {"group": "s3.aws.upbound.io", "version": "v1beta1", "kind": "Bucket"},
            "resource": {"group": "s3.aws.upbound.io", "version": "v1beta1", "resource": "buckets"},
            "name": name,
            "operation": "CREATE",
            "userInfo": {"username": "alice"},
            "object": {
                "apiVersion": "s3.aws.upbound.io/v1beta1",
                "kind": "Bucket",
                "metadata": {"name": name, "uid": f"uid-{name}"},
                "spec": {"forProvider": {"region": "eu-central-1"}},
            },
            "oldObject": None,
            "dryRun": False,
        },
    }
