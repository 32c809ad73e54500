"""The cases of policies/vectors for the engines of the policy pack; their README has the format."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
VECTORS = REPOSITORY / "policies/vectors"


@dataclass(frozen=True)
class Case:
    id: str
    policy: str  # file and name: unique
    config: dict  # what stands in Truce's configuration
    object: dict
    before: dict | None
    expect: list[dict]
    engines: dict = field(default_factory=dict)

    def expressible(self, engine: str) -> bool:
        """Whether the engine must decide this case as Truce does."""
        said = self.engines.get(engine, "yes")
        assert said == "yes" or said.startswith("no: "), f"{self.id}: engines.{engine}: {said}"
        return said == "yes"

    def mode_of(self, rule: str) -> str:
        """The mode in which the rule has something to say of the case, "" when it has nothing."""
        return next((one["mode"] for one in self.expect if one["rule"] == rule), "")

    @property
    def spec(self) -> dict:
        """`spec` of the NamingPolicy that says what the configuration says of names."""
        return {
            key: value
            for key, value in self.config.items()
            if key in ("naming", "rules", "exemptions")
        }


def read_cases() -> list[Case]:
    cases = []
    for file in sorted(VECTORS.glob("*.yaml")):
        content = yaml.load(file.read_text(), Loader=_Loader)
        for one in content["cases"]:
            policy = one.get("policy", "default")
            before = one.get("before")
            cases.append(
                Case(
                    id=one["id"],
                    policy=f"{file.stem}-{policy}",
                    config=content["policies"][policy],
                    object=one.get("object") or _object(one["facts"], one["id"]),
                    before=before and _object(before, one["id"]),
                    expect=one["expect"],
                    engines=one.get("engines", {}),
                )
            )
    return cases


class _Loader(yaml.SafeLoader):
    """Times are text, and `off` is a mode."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if first not in "oO"
}


def _object(facts: dict, case_id: str) -> dict:
    """As tests/support/policy_vectors.cc makes it."""
    kind, group = facts["kind"].split(".", 1)
    annotations = dict(facts.get("annotations", {}))
    obj: dict = {
        "apiVersion": f"{group}/{facts.get('version', 'v1beta1')}",
        "kind": kind,
        "metadata": {"name": facts.get("object", case_id), "annotations": annotations},
        "spec": {
            "forProvider": {"region": facts.get("region", "eu-west-1"), **facts.get("forProvider", {})},
            **facts.get("spec", {}),
        },
    }
    for key in ("namespace", "labels"):
        if key in facts:
            obj["metadata"][key] = facts[key]
    if "providerConfig" in facts:
        obj["spec"]["providerConfigRef"] = {"name": facts["providerConfig"]}
    if "name" in facts and "field" not in facts:
        annotations["crossplane.io/external-name"] = facts["name"]
    elif "name" in facts:
        *path, last = facts["field"].split(".")
        place = obj
        for step in path:
            place = place.setdefault(step, {})
        place[last] = facts["name"]
    return obj
