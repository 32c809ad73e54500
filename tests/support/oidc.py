"""An OpenID Connect issuer that signs everybody in at once, as one person: for a proxy in front of the API."""

from __future__ import annotations

import base64
import http.server
import json
import threading
import time
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT = "truce"
SECRET = "secret-of-the-client"


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _part(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        issuer: Issuer = self.server.issuer
        asked = urlsplit(self.path)
        if asked.path == "/.well-known/openid-configuration":
            self.say({"issuer": issuer.url, "authorization_endpoint": issuer.url + "/auth",
                      "token_endpoint": issuer.url + "/token", "jwks_uri": issuer.url + "/keys",
                      "response_types_supported": ["code"], "subject_types_supported": ["public"],
                      "id_token_signing_alg_values_supported": ["RS256"]})
        elif asked.path == "/keys":
            self.say({"keys": [issuer.key()]})
        elif asked.path == "/auth":
            wish = {name: values[0] for name, values in parse_qs(asked.query).items()}
            issuer.nonce = wish.get("nonce", "")
            self.send_response(302)
            self.send_header("Location", wish["redirect_uri"] + "?" + urlencode({"code": "one", "state": wish["state"]}))
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.say({"access_token": "opaque", "token_type": "Bearer", "expires_in": 600, "id_token": self.server.issuer.token()})

    def say(self, body: dict) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_) -> None:
        pass


class Issuer:
    """Serves on loopback until stop(). Who signs in next is `email` in `groups`."""

    def __init__(self, email: str, groups: list[str]):
        self.email, self.groups, self.nonce = email, groups, ""
        self._key = rsa.generate_private_key(65537, 2048)
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.issuer = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def key(self) -> dict:
        numbers = self._key.public_key().public_numbers()
        return {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "one", "n": _number(numbers.n), "e": _number(numbers.e)}

    def token(self) -> str:
        now = int(time.time())
        head = _part(json.dumps({"alg": "RS256", "kid": "one", "typ": "JWT"}).encode())
        body = _part(json.dumps({"iss": self.url, "aud": CLIENT, "sub": self.email, "email": self.email, "email_verified": True,
                                 "groups": self.groups, "nonce": self.nonce, "iat": now, "exp": now + 600}).encode())
        signature = self._key.sign(f"{head}.{body}".encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{head}.{body}.{_part(signature)}"
