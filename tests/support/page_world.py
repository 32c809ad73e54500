"""A registry for the page to show: a server with ownerships, conflicts and denials, and hostile names."""

from __future__ import annotations

import copy
import hashlib
from pathlib import Path

from support import objects
from support.api_client import ApiClient
from support.processes import free_port, wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess

TOKENS = {"root": ("admin", "token-of-root-0001"), "eve": ("viewer", "token-of-eve-00002")}
# Markup, quotes, a handler, text that runs from right to left, and a character nobody sees.
HOSTILE = ('<script>window.hurt=1</script>', '"><img src=x onerror="window.hurt=1">', "'\u202egpj.exe\u202c\u200b'",
           "\u05e9\u05dc\u05d5\u05dd&lt;b&gt;")
COPIES_AT_ONCE = 5000
TYPES = ("s3/Bucket", "sqs/Queue", "sns/Topic", "dynamodb/Table", "iam/Role")


def review_of(obj: dict) -> dict:
    """The review of an object's creation."""
    group, _, version = obj["apiVersion"].partition("/")
    kind = {"group": group, "version": version, "kind": obj["kind"]}
    metadata = obj["metadata"]
    uid = f"uid-of-{metadata.get('namespace', '')}-{metadata['name']}"
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "review-of-" + uid, "kind": kind, "requestKind": kind, "name": metadata["name"],
        "namespace": metadata.get("namespace", ""), "operation": "CREATE", "userInfo": {"username": "ann"},
        "object": obj | {"metadata": metadata | {"uid": uid}}}}


class PageWorld:
    """One server and who may ask it. External synchronization; from the main thread."""

    def __init__(self, directory: Path):
        tokens = directory / "tokens"
        tokens.write_text("".join(f"{hashlib.sha256(token.encode()).hexdigest()} {role} {name}\n"
                                  for name, (role, token) in TOKENS.items()))
        self.tokens_file = tokens
        self.address = f"127.0.0.1:{free_port()}"
        self.config = {"mappings": OBJECT_STORAGE_MAPPINGS, "apiTokenFile": str(tokens), "apiAddress": self.address,
                       "publicURL": self.url(""), "argocdURL": "https://argocd.example.org"}
        self.truce = TruceProcess(directory, self.config)

    def url(self, path: str) -> str:
        return f"https://{self.address}{path}"

    def start(self) -> "PageWorld":
        self.truce.start()
        self.api = ApiClient(self.address, self.truce.ca_file, TOKENS["root"][1])
        return self

    def stop(self) -> None:
        self.truce.stop()

    def logs(self) -> str:
        return self.truce.logs()

    def review(self, obj: dict) -> dict:
        with self.truce.reviewer() as reviewer:
            status, response = reviewer.review(review_of(obj))
        assert status == 200, (status, response, self.logs())
        return response

    def fill(self) -> str:
        """Twenty ownerships of four services, one of them with two managers, and three denials. The message
        of the last denial, which links to the bucket orders-0."""
        for service in ("payments", "orders", "billing", "search"):
            for number in range(5):
                assert self.review(self.claim(f"files-{number}", service, f"{service}-{number}"))["allowed"]
        second = self.claim("second", "billing", "payments-1")
        self._switch("audit", second, "allowed")
        assert self.review(second)["allowed"]
        stranger = self.claim("mine", "billing", "orders-0")
        self._switch("enforce", stranger, "denied")
        for service in ("search", "payments"):
            assert not self.review(self.claim("mine", service, "orders-0"))["allowed"]
        return self.review(stranger)["status"]["message"]

    def _switch(self, mode: str, obj: dict, verdict: str) -> None:
        """Another mode, in force for `obj`."""
        self.truce.write_config(self.config | {"mode": mode})
        wait_for(lambda: self.api.call("POST", "/api/v1/checks", {"items": [obj]}).json["verdict"] == verdict, 30, mode)

    @staticmethod
    def claim(name: str, service: str, bucket: str) -> dict:
        return objects.claim(name, f"team-{service}", bucket, labels={"app.kubernetes.io/part-of": service},
                             annotations={"truce.dev/contact": f"#{service}"})

    def resource(self, name: str) -> dict:
        found = self.api.get("/api/v1/resources:lookup", type="s3/Bucket", name=name).json
        assert not found["free"], name
        return found["resources"][0]

    def fill_with_hostile_names(self) -> list[str]:
        """One ownership for each hostile text, which is its name, service and contact, by an import of copies. Their ids."""
        model = self._model()
        copies = [self._copy(model, f"hostile-{at}", "s3/Bucket", f"h{at}", text) for at, text in enumerate(HOSTILE)]
        self._take(copies)
        return [each["owner"]["id"] for each in copies]

    def fill_with_merged(self, name: str) -> tuple[str, str]:
        """A bucket that another resource merged into. Its id, and the id of that one."""
        made = self._copy(self._model(), name, "s3/Bucket", f"n-{name}", "merging")
        former = hash_of(name + " before", 13)
        made["names"] = [{"name": "id:" + former, "sort": "former-id", "at": made["owner"]["since"]}]
        self._take([made])
        return made["owner"]["id"], former

    def fill_to(self, count: int) -> None:
        """Buckets until there are so many, over 200 services, five types, three accounts, by imports of copies."""
        model = self._model()
        present = self.api.get("/api/v1/overview").json["ownerships"]
        for begin in range(0, count - present, COPIES_AT_ONCE):
            end = min(begin + COPIES_AT_ONCE, count - present)
            self._take([self._copy(model, f"bulk-{at:06}", TYPES[at % 5], f"n{at}", f"service-{at % 200:03}")
                        for at in range(begin, end)])

    def _model(self) -> dict:
        """A copy of one of the ownerships there, to make others of."""
        return self.api.get("/api/v1/registry", limit=1).json["items"][0]["keyCopy"]

    @staticmethod
    def _copy(model: dict, name: str, type_name: str, uid: str, word: str) -> dict:
        made = copy.deepcopy(model)
        place = {"s3/Bucket": ("", "us-west-2"), "iam/Role": ("111122223333", "")}.get(type_name, ("111122223333", "us-west-2"))
        identity = f"{type_name}|aws|{place[0]}|{place[1]}|name={name}"
        slot = f"local/platform.example.org/ObjectStorage/bulk-{hash_of(word, 2)}/{uid}"
        made["key"] = f"{type_name}|aws|{place[0]}|{'' if type_name == 's3/Bucket' else place[1]}|name={name}"
        owner = made["owner"]
        owner.update(id=hash_of(uid, 13), root=slot, service=word, contact=word, name=word if uid.startswith("h") else name,
                     identity=identity, arn=f"arn:aws:s3:::{name}")
        made["rows"][0].update(uid=uid, slot=slot, root=slot, identity=identity, digest=made["key"] + " deletes\n", review=f"review-{uid}")
        made["objects"][0].update(uid=uid, slot=slot, root=slot, service=word, contact=word)
        return made

    def _take(self, copies: list[dict]) -> None:
        body = {"copies": copies}
        plan = self.api.call("POST", "/api/v1/registry", body)
        assert plan.status == 200 and plan.json["counts"]["new"] == len(copies), plan.body[:2000]
        done = self.api.call("POST", "/api/v1/registry", body | {"apply": True}, {"If-Match": plan.headers["ETag"]})
        assert done.status == 200 and done.json["applied"], done.body[:2000]


def hash_of(text: str, length: int) -> str:
    """Letters and digits as public ids have them."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    return "".join(alphabet[byte % 32] for byte in hashlib.sha256(text.encode()).digest()[:length])
