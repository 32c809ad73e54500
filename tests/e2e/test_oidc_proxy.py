"""The manual on signing in by OIDC, run as it stands there: oauth2-proxy, nginx and Truce in a row, and a
browser in front of them."""

import re
import secrets
import shutil
from pathlib import Path

import pytest
import yaml

from e2e.test_api_callers import RBAC
from support.browser import Browser
from support.cluster import PEERS
from support.objects import claim
from support.oidc import CLIENT, SECRET, Issuer
from support.processes import Child, free_port, wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS, REPOSITORY
from system.test_client_certificates import Authority

CHART = REPOSITORY / "docs/security.md"
PICTURES = REPOSITORY / "build/results/page"
SECONDS = 60


class Documented:
    """The blocks of the section, with this test's addresses and files."""

    def __init__(self):
        section = CHART.read_text().split("## Signing in by OIDC\n")[1].split("\n## ")[0]
        values, servers, roles = re.findall(r"```\w*\n(.*?)```", section, re.DOTALL)
        self.values = yaml.safe_load(values)
        self.proxy, self.nginx = servers.split("# nginx.conf\n")
        self.roles = list(yaml.safe_load_all(roles))


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert text.count(old) >= 1, f"{old} is not in the document"
        text = text.replace(old, new)
    return text


def start_nginx(directory: Path, text: str) -> Child:
    (directory / "nginx.conf").write_text(
        f"daemon off; pid {directory}/nginx.pid; error_log stderr warn; events {{}}\nhttp {{ access_log off;\n"
        + "".join(f"{kind}_temp_path {directory}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        + text + "}\n")
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    return Child("nginx", [program, "-p", str(directory), "-c", str(directory / "nginx.conf")], directory / "nginx.log")


@pytest.fixture
def proxied(follow, user, tmp_path):
    """Truce behind the proxies: (address for browsers, the issuer)."""
    said = Documented()
    authority = Authority(tmp_path, "proxies")
    given = authority.give("oauth2-proxy")
    config = said.values["config"] | {"apiClientCA": str(authority.file)}
    api, inner, outer = (free_port() for _ in range(3))
    url = f"http://127.0.0.1:{outer}"
    truce = follow(config | {"mappings": OBJECT_STORAGE_MAPPINGS, "apiAddress": f"127.0.0.1:{api}", "publicURL": url,
                             "serverNames": ["truce-api.truce-system.svc"], "disclosure": "taken"})
    issuer = Issuer("ann@example.org", ["team-a"])
    children = [start_nginx(tmp_path, replaced(
        said.nginx, ("127.0.0.1:8080", f"127.0.0.1:{inner}"), ("https://truce-api.truce-system.svc:443", f"https://127.0.0.1:{api}"),
        ("/etc/client/tls.crt", str(given)), ("/etc/client/tls.key", str(given)), ("/etc/client/truce-ca.crt", str(truce.ca_file))))]
    file = tmp_path / "oauth2-proxy.cfg"
    file.write_text(replaced(said.proxy, ("https://login.example.org", issuer.url), ("127.0.0.1:8080", f"127.0.0.1:{inner}")))
    # Beyond the document: where it listens, and no TLS before it on this machine.
    children.append(Child("oauth2-proxy", [
        str(PEERS / "oauth2-proxy"), "--config", str(file), "--http-address", f"127.0.0.1:{outer}", "--cookie-secure=false",
        "--redirect-url", url + "/oauth2/callback"], tmp_path / "oauth2-proxy.log", {
            "OAUTH2_PROXY_CLIENT_ID": CLIENT, "OAUTH2_PROXY_CLIENT_SECRET": SECRET,
            "OAUTH2_PROXY_COOKIE_SECRET": secrets.token_hex(16)}))
    admin = user("admin")
    for obj in said.roles:
        reply = admin.request("POST", f"{RBAC}/namespaces/team-a/{obj['kind'].lower()}s", obj)
        assert reply.status in (201, 409), reply.body
    yield url, issuer
    for child in children:
        child.kill()
    issuer.stop()


@pytest.mark.peer("oauth2-proxy")
def test_people_sign_in_as_the_document_says(proxied, user, tmp_path):
    url, issuer = proxied
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts")).expect(201)
    user("team-b").create(claim("theirs", "team-b", "prod-theirs")).expect(201)
    browser = Browser(tmp_path)
    try:
        window = browser.page()

        def opened(path: str) -> bool:
            window.open(url + path)
            return "Sign in with" in window.text() or "prod-artifacts" in window.text()

        wait_for(lambda: opened("/resources?namespace=team-a"), SECONDS, "oauth2-proxy to listen")
        if "Sign in with" in window.text():
            window.click("button[type=submit]")
        window.wait_for_text("prod-artifacts", "main")
        assert window.look("!document.querySelector('#token')"), "nobody asks for a token"
        window.picture(PICTURES / "signed-in-by-oidc.png")
        # The rights are those of the group: not another namespace, and nothing by fields that a browser sends.
        theirs = "fetch('/api/v1/resources?namespace=team-b', {headers: %s}).then(answer => answer.status)"
        for fields in ("{}", "{'X-Forwarded-Groups': 'team-b', 'X-Forwarded-Email': 'bob@example.org'}"):
            assert window.look(theirs % fields) == 403, fields
        ours = "fetch('/api/v1/resources?namespace=team-a').then(answer => answer.status)"
        assert window.look(ours) == 200
        # Somebody of another group is signed in, and may not.
        issuer.email, issuer.groups = "carol@example.org", ["team-c"]
        other = browser.page()
        other.open(url + "/resources?namespace=team-a")
        if "Sign in with" in other.text():
            other.click("button[type=submit]")
        other.wait("location.pathname === '/resources'", "signed in")
        assert other.look(ours) == 403
    finally:
        browser.stop()
