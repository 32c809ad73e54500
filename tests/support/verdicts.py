"""What a verdict must look like when it comes back through a real API server."""

from __future__ import annotations

from support.kube_client import Reply
from support.webhook_registration import DECLARATIONS

def _prefix(webhook: str) -> str:
    return f'admission webhook "{webhook}" denied the request: '


PREFIX = _prefix(DECLARATIONS)


def assert_refused(
    reply: Reply, *mentions: str, code: int = 403, webhook: str = DECLARATIONS
) -> str:
    """The reply is Truce's denial and its text has every one of `mentions`. Returns the text."""
    prefix = _prefix(webhook)
    assert reply.status == code, f"expected a denial with {code}, got {reply.status}: {reply.body}"
    assert reply.reason == ("Forbidden" if code == 403 else "Invalid"), reply.body
    assert reply.message.startswith(prefix), reply.message
    text = reply.message[len(prefix):]
    for mention in mentions:
        assert mention in text, f"{mention!r} is not in: {text}"
    # Argo CD deletes everything that looks like a printed Go map.
    assert "map[" not in text
    return text


def assert_unknown(reply: Reply) -> None:
    """The API server got no verdict, and its failurePolicy Fail refused the request for that."""
    assert reply.status == 500, reply.body
    assert "failed calling webhook" in reply.message, reply.body
