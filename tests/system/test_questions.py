"""Questions of a stranger: each is answered by one page, which README reaches by two links at most."""

import posixpath
import re

import pytest

from support.truce_process import REPOSITORY

# Question, page, and words of the answer that stand on it.
QUESTIONS = [
    ("Which versions of Kubernetes and Crossplane does it need?", "README.md", r"1\.30 or newer[^$]*claims and composites of 1\.x"),
    ("What does a write cost?", "README.md", "the smallest Go webhook adds"),
    ("Why not Gatekeeper or Kyverno?", "README.md", "two simultaneous creates"),
    ("What happens while Truce is down?", "docs/failure-card.md", r"\| Truce \| Ignore \|"),
    ("What if PostgreSQL fails over?", "docs/failure-card.md", "the primary of its database"),
    ("How do I let every write through, now?", "docs/operate.md", "kubectl delete validatingwebhookconfiguration truce"),
    ("How do I go back to an older version?", "docs/operate.md", "## Downgrade"),
    ("How do I make a backup?", "docs/operate.md", "truce backup FILE"),
    ("How do I get rid of it?", "docs/operate.md", "helm uninstall truce"),
    ("May it refuse what exists already?", "docs/roll-out.md", "never refuses objects that exist"),
    ("Ignore or Fail?", "docs/roll-out.md", "## Ignore or Fail"),
    ("Why was my bucket refused?", "docs/developers.md", "names the owner and the state"),
    ("How do I take over another team's bucket?", "docs/developers.md", "truce transfer prod-artifacts --to"),
    ("How does another team get to write a policy of my bucket?", "docs/developers.md", "--level attach"),
    ("Why is a name still taken after its deletion?", "docs/developers.md", "leaves an orphan"),
    ("Who may release a name?", "docs/security.md", r"`operator` \| also releases orphaned names"),
    ("What may Truce read and write in my cluster?", "docs/security.md", "## Rights of Truce"),
    ("Can a tenant free or take another one's name?", "docs/threats.md", "take a name that another owns"),
    ("How do I add an exemption?", "docs/configuration.md", r"exemptions:.*\n +- \{rule: "),
    ("What do denials tell of others?", "docs/configuration.md", "`disclosure`"),
    ("How do I run several replicas?", "docs/postgresql.md", "replicaCount: 3"),
    ("How do I check in a pull request?", "docs/check.md", "## In a pull request"),
    ("How does Argo CD stop before it touches anything?", "docs/presync.md", "PreSync"),
    ("My claims name buckets in fields of their own?", "docs/mappings.md", "spec.parameters.name"),
    ("Terraform owns some of our buckets?", "docs/imports.md", "terraform show -json"),
    ("How many buckets may a team have?", "docs/quotas.md", r'namespace: "team-\*", max: 20'),
    ("How should names look?", "docs/naming.md", "template: "),
    ("Why does a Usage block my deletion for ever?", "docs/crossplane.md", "stale-usage"),
    ("Which alerts are there, on which metrics?", "docs/reference/metrics.md", "TruceFailOpen"),
    ("What does a finding prove?", "docs/reference/findings.md", "Proof: "),
    ("Which fields has an OwnershipGrant?", "docs/reference/kinds.md", r"`spec\.shares\[\]\.until`"),
    ("Does it need AWS credentials?", "README.md", "no credentials, no calls"),
    ("Does it know other clouds, or many clusters?", "README.md", "Many clusters on one registry; clouds other than AWS"),
    ("How do I try it without a cluster?", "README.md", "make playground"),
    ("How do I report a vulnerability?", "SECURITY.md", "in private"),
    ("Do I need cert-manager?", "docs/install.md", "Truce makes its certificates itself"),
    ("My API server cannot reach Pods?", "docs/clusters.md", "cannot reach Pods"),
    ("What if the node with the volume dies?", "docs/clusters.md", "about 7 minutes"),
    ("My claims are not judged?", "docs/roll-out.md", "webhook.mappedGroups"),
    ("May Velero restore objects with the webhook on?", "docs/operate.md", "while Velero restores objects"),
    ("How do I let one team pass for two hours?", "docs/operate.md", "truce override --namespace team-a --for 2h"),
    ("After a restore Truce only warns: how does that end?", "docs/operate.md", "truce recovery finish"),
    ("What does my team own?", "docs/commands.md", "truce list -n team-a"),
    ("How do I hide a finding for a week?", "docs/commands.md", "truce findings --mute ID --for 7d"),
    ("Which AWS account does a ProviderConfig mean?", "docs/configuration.md", r"\{name: prod, account: "),
    ("How do I move from SQLite to PostgreSQL?", "docs/postgresql.md", "truce migrate-store --from"),
    ("How do I ask the registry in SQL?", "docs/sqlite.md", "SELECT key, root, service"),
    ("How do people open the page without a token?", "docs/security.md", "## Signing in by OIDC"),
    ("What happens when one of two managers is deleted?", "docs/crossplane.md", "one of two managers is deleted"),
    ("Can I have the naming rules without the webhook?", "docs/naming.md", "ValidatingAdmissionPolicy"),
    ("Which settings does a rule read?", "docs/reference/rules.md", r"`account-party`.*`accountParties`"),
]


def links(page: str) -> set[str]:
    """The documents that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", (REPOSITORY / page).read_text())
    return {posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            for target in targets if "://" not in target and target.endswith(".md")}


@pytest.mark.parametrize("question, page, answer", QUESTIONS, ids=[question for question, _, _ in QUESTIONS])
def test_a_strangers_question_is_answered(question, page, answer):
    first = links("README.md")
    second = set().union(*map(links, first))
    assert page in {"README.md"} | first | second, f"README leads to {page} by more than two links"
    assert re.search(answer, (REPOSITORY / page).read_text()), f"{page} does not say: {question}"
