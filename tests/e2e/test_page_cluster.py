"""The page in a real browser beside a real API server: what only a followed cluster can show."""

import hashlib
import json
import re
import shlex
from datetime import datetime, timedelta, timezone

import pytest

from e2e.test_api_callers import make_account, token_of
from support.browser import Browser
from support.forwarder import Forwarder
from support.objects import claim, community_bucket
from support.processes import free_port, wait_for
from support.provider import make_real
from support.truce_process import OBJECT_STORAGE_MAPPINGS, REPOSITORY

RECORDING = REPOSITORY / "tests/support/recordings/tag-war-war-events.jsonl"
PICTURES = REPOSITORY / "build/results/page"
TOKEN = "token-of-root-0001"
NAME = "acme-prod-logs"  # the bucket of the recording
LOOK_SECONDS = 30  # Detectors look every 10 s, the page asks every 30 s.


@pytest.fixture
def window(tmp_path):
    browser = Browser(tmp_path)
    yield browser.page()
    browser.stop()


def replay(client, sides: dict[str, dict]) -> set[str]:
    """The Events of the two controllers as they were recorded, about the objects of today; their names. Their
    times are of today too; nobody waits for them to pass, as Truce goes by counts."""
    posted: set[str] = set()
    lines = [json.loads(line) for line in RECORDING.read_text().splitlines()]
    shift = datetime.now(timezone.utc).replace(microsecond=0) - datetime.fromtimestamp(int(lines[-1]["received"]), timezone.utc)
    for line in lines:
        event = line["event"]["object"]
        stored = sides[event["involvedObject"]["name"]]
        event["metadata"] = {"name": event["metadata"]["name"], "namespace": "default"}
        event["involvedObject"] |= {"uid": stored["metadata"]["uid"], "resourceVersion": ""}
        for stamp in ("firstTimestamp", "lastTimestamp"):
            at = datetime.strptime(event[stamp], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc) + shift
            event[stamp] = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        known = event["metadata"]["name"] in posted
        (client.patch(event, event) if known else client.create(event)).expect()
        posted.add(event["metadata"]["name"])
    return posted


@pytest.mark.slow(14)
def test_a_running_tag_war_comes_first(follow, user, window, tmp_path):
    """Of two conflicts the one whose sides overwrite each other now stands first, and the picture is kept."""
    admin, provider = user("admin"), user("provider")
    sides = {}
    # Before Truce is there: nobody was asked.
    for name, bucket in (("calm-one", "acme-calm"), ("calm-two", "acme-calm"), ("payments-logs", NAME), ("search-logs", NAME)):
        sides[name] = admin.create(community_bucket(name, bucket)).expect(201).body
        make_real(provider, sides[name])
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{hashlib.sha256(TOKEN.encode()).hexdigest()} admin root\n")
    address = f"127.0.0.1:{free_port()}"
    truce = follow({"apiAddress": address, "apiTokenFile": str(tokens)})

    window.open(f"https://{address}/")
    window.write("#token", TOKEN)
    window.press("Enter")
    window.wait_for_text("2\nconflicts", seconds=LOOK_SECONDS)
    assert "running tag war" not in window.text("main"), "nobody writes yet"

    events = replay(admin, sides)
    wait_for(lambda: json.loads(truce.command("findings", "--rule", "tag-war", "-o", "json").stdout)["items"], LOOK_SECONDS,
             "the finding")
    window.open(f"https://{address}/")
    window.wait_for_text("1 of them is a running tag war: the sides overwrite each other.")
    headings = window.look("[...document.querySelectorAll('main h2')].map(each => each.innerText)")
    assert headings[0] == "Conflicts", headings
    rows = window.look("[...document.querySelectorAll('main table')[0].querySelectorAll('tbody tr')].map(each => each.innerText)")
    assert NAME in rows[0] and "writes a minute" in rows[0] and "acme-calm" in rows[1], rows
    window.wait_for_text("Take namespaces off the selector")
    assert "Fail: objects are refused" in window.text(".standing") and "up to date" in window.text(".standing")
    for width, suffix in ((1280, "light"), (360, "small")):
        window.size(width, 900)
        window.wait(f"innerWidth === {width} && [...document.querySelectorAll('.table-frame')].every("
                    "each => each.scrollWidth <= each.clientWidth)", "nothing to scroll for in a table")
        window.picture(PICTURES / f"tag-war-{suffix}.png")
    window.click_text(f'S3 bucket "{NAME}"')
    window.wait_for_text("A tag war is running:")
    said = window.text("main")
    assert "payments-logs" in said and "search-logs" in said
    window.picture(PICTURES / "tag-war-resource.png")
    assert window.complaints == []
    for name in events:
        admin.request("DELETE", f"/api/v1/namespaces/default/events/{name}").expect()


def test_a_token_that_kubectl_makes_is_pasted(follow, cluster, user, window):
    """The manual's way without `truce`: a forwarded port of the Service, and a token from kubectl."""
    [forwarded, made] = [shlex.split(line) for line in re.findall(
        r"^kubectl -n \S+ (?:port-forward|create token) .*$", (REPOSITORY / "docs/developers.md").read_text(), re.MULTILINE)]
    namespace, name = made[2], made[5]
    make_account(user("admin"), namespace, name, "owner")
    address = f"127.0.0.1:{free_port()}"
    follow({"mappings": OBJECT_STORAGE_MAPPINGS, "apiAddress": address, "disclosure": "taken"})
    user("team-a").create(claim("artifacts", namespace, "prod-artifacts")).expect(201)
    user("team-b").create(claim("theirs", "team-b", "prod-theirs")).expect(201)
    token = cluster.kubectl(*made[1:])
    assert token.returncode == 0 and token.stdout.count(".") == 2, token.stderr
    # The cluster of the tests has no kubelet that could forward a port of a Pod.
    assert forwarded[3:] == ["port-forward", "service/truce-api", "8444:443"]
    forwarder = Forwarder(address)
    try:
        window.open(f"https://localhost:{forwarder.port}/resources?namespace={namespace}")
        window.write("#token", token.stdout)
        window.press("Enter")
        window.wait_for_text("prod-artifacts", "main")
        window.picture(PICTURES / "pasted-token.png")
        window.open(f"https://localhost:{forwarder.port}/resources?q=prod-theirs")
        window.wait_for_text("taken", "main")
        assert "team-b" not in window.text("main"), "what another team owns is not told"
    finally:
        window.close()
        forwarder.stop()


@pytest.mark.parametrize("disclosure", ["full", "service", "taken"])
def test_a_team_with_rights_in_one_namespace(follow, user, window, disclosure):
    """With a Role in its namespace alone a team sees that namespace, each link that it is shown leads on, and the
    link of its denial tells what the denial told."""
    admin = user("admin")
    make_account(admin, "team-b", "team-b-reader", "reader")
    address = f"127.0.0.1:{free_port()}"
    follow({"mappings": OBJECT_STORAGE_MAPPINGS, "apiAddress": address, "publicURL": f"https://{address}",
            "disclosure": disclosure})
    labels = {"app.kubernetes.io/part-of": "shop"}
    contact = {"truce.dev/contact": "#team-a"}
    user("team-a").create(claim("artifacts", "team-a", "prod-artifacts", labels=labels, annotations=contact)).expect(201)
    user("team-b").create(claim("theirs", "team-b", "prod-theirs", labels={"app.kubernetes.io/part-of": "desk"})).expect(201)
    denied = user("team-b").create(claim("mine", "team-b", "prod-artifacts"))
    assert denied.status == 403, denied.body
    link = re.search(r"https://\S+/r/[a-z2-7]{13}", denied.message)[0]

    window.open(f"https://{address}/")
    window.write("#token", token_of(admin, "team-b", "team-b-reader"))
    window.press("Enter")
    for path in ("/", "/matrix", "/resources", "/services", "/denials", "/findings"):
        window.open(f"https://{address}{path}")
        window.wait_for_text("Choose a namespace")
        window.wait_for_text("in all namespaces", "main")
    window.write("#namespace", "team-a")
    window.press("Enter")
    window.wait_for_text("Your token may not see this in namespace team-a.")
    window.write("#namespace", "team-b")
    window.press("Enter")
    window.wait_for_text("Nothing found.", "main")
    window.picture(PICTURES / f"one-namespace-{disclosure}.png")
    todo, seen = ["/", "/resources", "/denials", "/findings"], {}
    while todo:
        path = todo.pop()
        window.open(f"https://{address}{path}")
        window.wait("document.querySelector('h1') && !/Loading …|Searching …/.test(document.body.innerText)", path)
        seen[path] = window.text("main")
        links = window.look("[...document.querySelectorAll('header a[href], main a[href]')].filter(each => !each.target)"
                            ".map(each => each.getAttribute('href'))")
        todo += [each for each in dict.fromkeys(links) if each.startswith("/") and each not in seen and each not in todo]
    for path, said in seen.items():
        assert "Choose a" not in said and "may not" not in said, (path, said)
    assert "ObjectStorage team-b/mine" in seen["/"] and "prod-theirs" in seen["/resources"]
    assert any(each.startswith("/r/") for each in seen) and any(each.startswith("/denials/") for each in seen)

    window.open(link)
    said = window.wait_for_text("taken", "main")
    for word in ("team-a/artifacts", "shop", "#team-a"):
        assert (word in said) == (word in denied.message), (word, said, denied.message)
    text = window.look("document.querySelector('.command pre')?.innerText || ''")
    assert text.startswith("Hello, you own s3/Bucket \"prod-artifacts\"") == (disclosure != "taken"), text
    window.picture(PICTURES / f"denied-link-{disclosure}.png")
    assert window.complaints == []
