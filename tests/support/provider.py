"""A provider's part in the life of a managed resource, in the order of a real one's writes."""

from __future__ import annotations

from support.kube_client import Client
from support.objects import MANAGED_FINALIZER


def _condition(kind: str, status: str, reason: str) -> dict:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "lastTransitionTime": "2026-11-21T12:00:00Z",
    }


SYNCED = _condition("Synced", "True", "ReconcileSuccess")
READY = _condition("Ready", "True", "Available")
DELETING = _condition("Ready", "False", "Deleting")


def make_real(provider: Client, obj: dict) -> None:
    """The provider found `obj`, made its cloud resource and says that it is there."""
    provider.patch(obj, {"metadata": {"finalizers": [MANAGED_FINALIZER]}}).expect()
    provider.patch_status(obj, {"conditions": [SYNCED, READY]}).expect()


def finish_deletion(provider: Client, obj: dict) -> None:
    """`obj` was deleted by its user: the provider deletes the cloud resource and lets go of it."""
    provider.patch_status(obj, {"conditions": [SYNCED, DELETING]}).expect()
    provider.patch(obj, {"metadata": {"finalizers": None}}).expect()


def orphan(provider: Client, obj: dict) -> None:
    """`obj` was deleted by its user under deletionPolicy Orphan: it is only let go of."""
    provider.patch(obj, {"metadata": {"finalizers": None}}).expect()
