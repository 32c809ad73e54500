#!/usr/bin/env python3
"""Makes the policy pack: the name rules for ValidatingAdmissionPolicy and Gatekeeper.

  policy_pack.py FOLDER    writes it there

The names that AWS takes come from schema/aws-names.tsv and schema/aws-types.tsv; the reading of a name
by a template from policies/pack/src: naming.cel (once for every mode) and *.rego. policies/pack also
has suite, samples and sync.yaml, which are written by hand.
"""

import json
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACK = ROOT / "policies/pack"
HEAD = "# Written by release/policy_pack.py from policies/pack/src and schema/; do not edit.\n"

# Options of a key's part that the pack can follow; types with others are the webhook's alone.
OPTIONS = {"lower", "dns"}


def rows(name: str) -> list[dict[str, str]]:
    lines = [line for line in (ROOT / "schema" / name).read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    columns = lines[0].split("\t")
    return [dict(zip(columns, line.split("\t"), strict=True)) for line in lines[1:]]


def alternatives(text: str) -> str:
    return "|".join(re.escape(word) for word in text.split("|"))


def characters(text: str) -> str:
    return "[" + "".join("\\" + c if c in r"\]^[-" else c for c in text) + "]"


def bad_pattern(check: str) -> str:
    """A pattern that finds what `check` refuses; "" for what no pattern tells."""
    word, _, text = check.partition("=")
    labels = r"^\.|\.\.|[^.]{64}"
    dns = labels + r"|(^|\.)-|-(\.|$)"
    simple = {
        "not-ipv4": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$",
        "not-digits": "^[0-9]+$",
        "labels": labels,
        "dns": dns + r"|[^A-Za-z0-9._-]",
        "dns-wildcard": dns + r"|[^*A-Za-z0-9._-]|.\*|^\*[^.]",
        "secret-suffix": ".-[A-Za-z0-9]{6}$",
        "fifo": "",
    }
    if word in simple:
        return simple[word]
    built = {
        "no": lambda: alternatives(text),
        "no-prefix": lambda: f"^({alternatives(text)})",
        "no-suffix": lambda: f"({alternatives(text)})$",
        "not": lambda: f"^({alternatives(text)})$",
        "no-end": lambda: characters(text) + "$",
        "no-chars": lambda: characters(text),
        "apart": lambda: characters(text) + "{2}",
        "depth": lambda: "^/?([^/]*/){" + text + "}",
        "no-path-prefix": lambda: f"^/?(?i:{alternatives(text)})",
    }
    return built[word]()


def source_of(parts: str, extra: str, wanted: str) -> dict[str, str] | None:
    """Where the part `wanted` stands; nothing where the pack cannot follow."""
    for part in ";".join([parts, extra]).split(";"):
        name, _, rest = part.partition("=")
        source, *options = rest.split(",") if rest else (name.split(",")[0], *name.split(",")[1:])
        if name.split(",")[0] != wanted:
            continue
        if not set(options) <= OPTIONS or "|" in source or source == "@assigned":
            return None
        return {"field": "" if source == "@external-name" else source,
                "lower": "yes" if options else ""}
    return None


def table() -> dict[str, dict[str, str]]:
    """Kind.group → what is known of its names; namespaced upjet groups as the cluster-scoped ones."""
    types = {row["type"]: row for row in rows("aws-types.tsv")}
    out = {}
    for row in rows("aws-names.tsv"):
        spec = types[row["type"]]
        service, kind = row["type"].split("/")
        checks = [] if row["checks"] == "-" else re.split(r";(?=[a-z])", row["checks"])
        bad = [bad_pattern(c) for c in checks if not c.startswith("warn:")]
        warn = [bad_pattern(c[5:]) for c in checks if c.startswith("warn:")]
        entry = {
            "type": row["type"],
            "word": row["abbreviation"].strip("-"),
            "sure": "yes" if row["certainty"] == "researched" else "",
            "good": "" if spec["name_regex"] == "-" else spec["name_regex"],
            "bad": "|".join(pattern for pattern in bad if pattern),
            "warn": "|".join(pattern for pattern in warn if pattern),
            "fifo": next((c[5:] for c in checks if c.startswith("fifo=")), ""),
            "min": spec["name_min"].strip("-"),
            "max": spec["name_max"].strip("-"),
        }
        for name in spec["kinds"].split():
            own = spec["community_parts"] != "-" and name != "@upjet"
            extra = spec["community_extra"] if own and spec["community_extra"] != "-" else spec["extra"]
            source = source_of(spec["community_parts"] if own else spec["parts"], extra,
                               spec["name_part"])
            if source is None:
                continue
            full = f"{kind}.{service}.aws.upbound.io" if name == "@upjet" else name
            out[full] = {key: value for key, value in {**entry, **source}.items() if value}
    return dict(sorted(out.items()))


def groups(names: dict) -> list[str]:
    plain = {name.split(".", 1)[1] for name in names}
    return sorted(plain | {g.replace(".aws.upbound.io", ".aws.m.upbound.io") for g in plain})


# CEL

def cel_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def cel_table(names: dict) -> str:
    entries = []
    for name, entry in names.items():
        fields = ", ".join(f"{cel_text(k)}: {cel_text(v)}" for k, v in entry.items())
        entries.append(f"{cel_text(name)}: {{{fields}}}")
    return "{\n" + ",\n".join(entries) + "\n}"


# One name for both versions of the object; SELF is replaced.
CEL_NAME = """
!has(variables.rule.field)
? (has(SELF.metadata.annotations) && 'crossplane.io/external-name' in SELF.metadata.annotations
   && SELF.metadata.annotations['crossplane.io/external-name'] != ''
   ? SELF.metadata.annotations['crossplane.io/external-name'] : SELF.metadata.name)
: has(SELF.spec.forProvider) && variables.rule.field in SELF.spec.forProvider
? string(SELF.spec.forProvider[variables.rule.field])
: has(SELF.spec.initProvider) && variables.rule.field in SELF.spec.initProvider
? string(SELF.spec.initProvider[variables.rule.field]) : ''"""


def cel_variables(names: dict) -> list[tuple[str, str]]:
    return [
        ("names", cel_table(names)),
        ("kind", "object.kind + '.' + object.apiVersion.split('/')[0]"
                 ".replace('.aws.m.upbound.io', '.aws.upbound.io')"),
        ("rule", "variables.kind in variables.names ? variables.names[variables.kind] : {'none': 'yes'}"),
        ("given", CEL_NAME.replace("SELF", "object").strip()),
        ("before", "oldObject == null ? '' : " + CEL_NAME.replace("SELF", "oldObject").strip()),
        ("name", "has(variables.rule.lower) ? variables.given.lowerAscii() : variables.given"),
        # Observers take the name as it is; a name that stays was judged when it came.
        ("judged", "!has(variables.rule.none) && variables.given != '' "
                   "&& variables.given != variables.before "
                   "&& !(has(object.spec.managementPolicies) "
                   "&& object.spec.managementPolicies == ['Observe'])"),
    ]


CEL_AWS = {
    "fits": """
(!has(variables.rule.good) || variables.name.matches('^(?:' + variables.rule.good + ')$'))
&& (!has(variables.rule.bad) || !variables.name.matches(variables.rule.bad))
&& (!has(variables.rule.min) || size(variables.name) >= int(variables.rule.min))
&& (!has(variables.rule.max) || size(variables.name) <= int(variables.rule.max))
&& (!has(variables.rule.fifo) || !has(object.spec.forProvider)
    || variables.name.endsWith('.fifo') == (variables.rule.fifo in object.spec.forProvider
    && object.spec.forProvider[variables.rule.fifo] == true))""".strip(),
}


def policy(name: str, about: str, variables: list[tuple[str, str]], checks: list[dict],
           kinds: list[str], parameters: bool) -> dict:
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": kinds, "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
            "resources": ["*"]}]},
        "variables": [{"name": key, "expression": text} for key, text in variables],
        "validations": checks,
    }
    if parameters:
        spec = {"paramKind": {"apiVersion": "truce.dev/v1alpha1", "kind": "NamingPolicy"}, **spec}
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name, "annotations": {"truce.dev/about": about}}, "spec": spec}


def binding(name: str, action: str, parameter: str = "") -> dict:
    spec: dict = {"policyName": name, "validationActions": [action]}
    if parameter:
        spec["paramRef"] = {"name": parameter, "parameterNotFoundAction": "Allow"}
    return {"apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": spec}


def cel_naming_variables() -> list[tuple[str, str]]:
    """Reads src/naming.cel: "name:" lines, each followed by its expression, indented."""
    found, current = [], None
    for line in (PACK / "src/naming.cel").read_text(encoding="utf-8").splitlines():
        head = re.match(r"^(\w+):$", line)
        if head:
            current = [head[1], []]
            found.append(current)
        elif current is not None and line.strip() and not line.startswith("#"):
            current[1].append(line.strip())
    out = []
    for name, lines in found:
        text = "\n".join(lines)
        if name == "piece":
            out += [(f"{v}{step}", part) for v in VARIABLES for step, part in pieces(text, v)]
        else:
            out.append((name, text))
    return out


VARIABLES = {
    "service": ("variables.service", "[a-z][a-z0-9]*(-[a-z0-9]+)*", []),
    "env": ("''", "[a-z][a-z0-9]*", ["dev", "test", "staging", "prod"]),
    "team": ("''", "[a-z][a-z0-9]*(-[a-z0-9]+)*", []),
    "region": ("variables.region", "[a-z0-9]+(-[a-z0-9]+)*", []),
    "account": ("''", "[a-z0-9]+", []),
    "suffix": ("''", "[a-z0-9]+(-[a-z0-9]+)*", []),
}


def pieces(text: str, variable: str) -> list[tuple[str, str]]:
    """The expressions of one variable: what is said of it, what is demanded, its pattern."""
    fallback, pattern, words = VARIABLES[variable]
    out = []
    for part in text.split("---"):
        step, _, body = part.strip().partition("=")
        body = body.replace("VARIABLE", variable).replace("FALLBACK", fallback)
        body = body.replace("PATTERN", cel_text(pattern))
        body = body.replace("WORDS", "[" + ", ".join(cel_text(w) for w in words) + "]")
        out.append((step.strip().capitalize(), body.strip()))
    return out


def vap_files() -> dict[str, str]:
    names = table()
    kinds = groups(names)
    base = cel_variables(names)
    aws = [*base, *CEL_AWS.items()]
    says = "'name \"' + variables.name + '\" of ' + variables.rule.type + '"
    files = {}
    for suffix, action, expression, text in (
        ("", "Deny", "!variables.judged || !has(variables.rule.sure) || variables.fits",
         " is not one that AWS takes'"),
        ("-warn", "Warn",
         "!variables.judged || ((has(variables.rule.sure) || variables.fits) && "
         "(!has(variables.rule.warn) || !variables.name.matches(variables.rule.warn)))",
         " may be trouble in AWS'"),
    ):
        name = f"truce-aws-name{suffix}"
        files[f"aws-name{suffix}.yaml"] = [
            policy(name, "AWS would refuse the name", aws,
                   [{"expression": expression, "messageExpression": says + text}], kinds, False),
            binding(name, action)]
    naming = [*base, *cel_naming_variables()]
    for mode, action in (("enforce", "Deny"), ("warn", "Warn"), ("audit", "Audit")):
        name = f"truce-naming-{mode}"
        files[f"naming-{mode}.yaml"] = [
            policy(name, "the name departs from the NamingPolicy", naming,
                   [{"expression": f"variables.mode != '{mode}' || !variables.judged "
                                   "|| !variables.covered || variables.exempt || variables.conforms",
                     "messageExpression": says + " does not follow ' + variables.form"}],
                   kinds, True),
            binding(name, action, "default")]
    return {f"vap/{name}": HEAD + "".join(document(each) for each in objects)
            for name, objects in files.items()}


# Gatekeeper

def template(kind: str, about: str, rego: str, schema: dict) -> dict:
    return {
        "apiVersion": "templates.gatekeeper.sh/v1", "kind": "ConstraintTemplate",
        "metadata": {"name": kind.lower(), "annotations": {"description": about}},
        "spec": {
            "crd": {"spec": {"names": {"kind": kind},
                             "validation": {"openAPIV3Schema": schema}}},
            "targets": [{"target": "admission.k8s.gatekeeper.sh", "rego": rego}],
        },
    }


def gatekeeper_files() -> dict[str, str]:
    names = table()
    data = "names := " + json.dumps(names, indent=1)
    shared = (PACK / "src/shared.rego").read_text(encoding="utf-8")
    files = {}
    for stem, kind, about in (
        ("aws-name", "TruceAwsName", "AWS would refuse the name"),
        ("naming", "TruceNaming", "the name departs from the naming convention"),
        ("unique-name", "TruceUniqueName", "another object in Gatekeeper's cache has the name"),
    ):
        own = (PACK / f"src/{stem}.rego").read_text(encoding="utf-8")
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        rego = f"package {kind.lower()}\n\n" + own + "\n" + shared + "\n" + data + "\n"
        files[f"template-{stem}.yaml"] = template(kind, about, rego, schema)
    return {f"gatekeeper/{name}": HEAD + document(each) for name, each in files.items()}


def document(value: dict) -> str:
    """YAML of one object: JSON's flow, but long texts as blocks, for reviewers."""
    lines = ["---"]

    def write(node, indent: str, lead: str) -> None:
        if isinstance(node, str) and "\n" in node:
            lines.append(f"{lead} |-")
            lines.extend((indent + "  " + line).rstrip() for line in node.splitlines())
        elif isinstance(node, dict) and node:
            if lead:
                lines.append(lead)
            for key, child in node.items():
                write(child, indent + ("  " if lead else ""), f"{indent}{'  ' if lead else ''}{key}:")
        elif isinstance(node, list) and node and isinstance(node[0], dict):
            lines.append(lead)
            for child in node:
                mark = len(lines)
                write(child, indent + "    ", "")
                lines[mark] = indent + "  - " + lines[mark].lstrip()
        else:
            lines.append(f"{lead} {json.dumps(node, ensure_ascii=False)}")

    write(value, "", "")
    return "\n".join(lines) + "\n"


def made() -> dict[str, str]:
    """Text by path: what the pack has beside policies/pack."""
    return vap_files() | gatekeeper_files()


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    shutil.copytree(PACK, folder, dirs_exist_ok=True)
    for name, text in made().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
