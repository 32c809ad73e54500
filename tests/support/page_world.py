"""A registry for the page to show: a server with ownerships, conflicts and denials, and hostile names."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from support import objects
from support.api_client import ApiClient
from support.processes import free_port, wait_for
from support.truce_process import OBJECT_STORAGE_MAPPINGS, TruceProcess

TOKENS = {"root": ("admin", "token-of-root-0001"), "eve": ("viewer", "token-of-eve-00002")}
# Markup, quotes, a handler, text that runs from right to left, and a character nobody sees.
HOSTILE = ('<script>window.hurt=1</script>', '"><img src=x onerror="window.hurt=1">', "'\u202egpj.exe\u202c\u200b'",
           "\u05e9\u05dc\u05d5\u05dd&lt;b&gt;")
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
        """One ownership for each hostile text, which is its name, service and contact. Their ids."""
        copies = [self._copy(f"hostile-{at}", "s3/Bucket", f"h{at}", text) for at, text in enumerate(HOSTILE)]
        self._put(copies)
        return [each["public_id"] for each in copies]

    def fill_with_merged(self, name: str) -> tuple[str, str]:
        """A bucket that another resource merged into. Its id, and the id of that one."""
        made = self._copy(name, "s3/Bucket", f"n-{name}", "merging")
        former = hash_of(name + " before", 13)
        self._put([made | {"former": "id:" + former}])
        return made["public_id"], former

    def fill_to(self, count: int) -> None:
        """Buckets until there are so many, over 200 services, five types, three accounts."""
        present = self.api.get("/api/v1/overview").json["ownerships"]
        self._put([self._copy(f"bulk-{at:06}", TYPES[at % 5], f"n{at}", f"service-{at % 200:03}")
                   for at in range(count - present)])

    @staticmethod
    def _copy(name: str, type_name: str, uid: str, word: str) -> dict:
        """What is other of this ownership than of the one that it is made of."""
        account, region = {"s3/Bucket": ("", "us-west-2"), "iam/Role": ("111122223333", "")}.get(
            type_name, ("111122223333", "us-west-2"))
        key = f"{type_name}|aws|{account}|{'' if type_name == 's3/Bucket' else region}|name={name}"
        namespace = f"bulk-{hash_of(word, 2)}"
        return {"key": key, "public_id": hash_of(uid, 13), "service": word, "contact": word, "uid": "local/" + uid,
                "root": f"local/platform.example.org/ObjectStorage/{namespace}/{uid}", "party": f"ns:local/{namespace}",
                "namespace": namespace, "object": uid, "name": word if uid.startswith("h") else name,
                "identity": f"{type_name}|aws|{account}|{region}|name={name}", "arn": f"arn:aws:s3:::{name}",
                "place": (type_name, account, region), "digest": key + " deletes\n"}

    def _put(self, copies: list[dict]) -> None:
        """Ownerships as one that is there, but for what `copies` say; written while the server stands still."""
        self.truce.stop()
        rows = sqlite3.connect(self.truce.data / "truce.db")
        rows.row_factory = sqlite3.Row
        with rows:
            def one(table: str, where: str, *values) -> dict:
                found = rows.execute(f"SELECT * FROM {table} WHERE {where} LIMIT 1", values).fetchone()
                return {name: found[name] for name in found.keys()}

            def put(table: str, row: dict) -> int:
                marks = ", ".join("?" * len(row))
                return rows.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values())).lastrowid

            owner = one("resources", "owned = 1 ORDER BY key")
            row = one("declarations", "resource = ?", owner.pop("id"))
            known = one("objects", "uid = ?", row["uid"])
            del known["id"]
            for each in copies:
                place = (each["place"][0], "local", each["namespace"], *each["place"][1:])
                rows.execute("INSERT INTO places (type, cluster, namespace, account, region) VALUES (?, ?, ?, ?, ?)"
                             " ON CONFLICT DO NOTHING", place)
                at = rows.execute("SELECT id FROM places WHERE (type, cluster, namespace, account, region)"
                                  " = (VALUES (?, ?, ?, ?, ?))", place).fetchone()[0]
                same = ("key", "public_id", "root", "party", "service", "contact", "arn", "name", "identity")
                made = put("resources", owner | {name: each[name] for name in same} | {"shape": None, "place": at})
                put("declarations", row | {"resource": made, "slot": each["root"],
                                           **{name: each[name] for name in ("uid", "namespace", "identity", "digest")}})
                put("objects", known | {"name": each["object"],
                                        **{name: each[name] for name in ("uid", "namespace", "service", "contact")}})
                names = {each["key"]: "located" if each["place"][1] else "declared"}
                if "former" in each:
                    names[each["former"]] = "former-id"
                for text, sort in names.items():
                    put("names", {"name": text, "spelling": 0, "resource": made, "sort": sort, "observed": 0, "at": 0})
        rows.close()
        self.start()


def hash_of(text: str, length: int) -> str:
    """Letters and digits as public ids have them."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    return "".join(alphabet[byte % 32] for byte in hashlib.sha256(text.encode()).digest()[:length])
