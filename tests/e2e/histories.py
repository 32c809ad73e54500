"""The world of the histories (`test_histories*.py`): each is told four times, with the cluster
followed and without, with and without a restart before the answer that matters."""

from e2e.test_life_cycles import make_chain
from support.objects import REGION, managed
from support.processes import wait_for
from support.provider import READY, SYNCED
from support.truce_process import OBJECT_STORAGE_MAPPINGS
from support.verdicts import assert_refused

ONE, TWO = "111111111111", "222222222222"
QUEUE = "sqs/Queue"
SECONDS = 20
CONFIG = {
    "mappings": OBJECT_STORAGE_MAPPINGS,
    # The ProviderConfig "prod" is not configured: nobody knows its account.
    "providerConfigs": [{"name": "stage", "account": ONE}, {"name": "dev", "account": TWO}],
    "statusGuard": True,
}


class World:
    """Truce in front of the API server, and the users of it."""

    def __init__(self, truce, cluster, user, follows: bool, restarts: bool):
        self.truce, self.cluster, self.user = truce, cluster, user
        self.follows, self._restarts = follows, restarts

    def register(self) -> None:
        self.cluster.register_webhook(self.truce.admission_url, self.truce.ca_file, statuses=True)

    def turn(self) -> None:
        """What comes now is asked of a new process, where the test wants one."""
        if self._restarts:
            assert self.truce.stop() == 0
            self.truce.start()

    def configure(self, **changes) -> None:
        """CONFIG with these changes, taken over by the running process some time soon, or read by
        a new one."""
        if self._restarts:
            assert self.truce.stop() == 0
        self.truce.write_config({**CONFIG, **changes})
        if self._restarts:
            self.truce.start()

    def refuses(self, obj: dict, *mentions: str, who: str = "team-b") -> str:
        return assert_refused(self.user(who).create(obj), *mentions)

    def comes_to(self, admitted: bool, obj: dict, who: str = "team-b") -> None:
        """Whether `obj` may be created becomes `admitted`."""
        client = self.user(who)
        wait_for(lambda: client.create(obj, dry_run=True).ok == admitted, SECONDS,
                 f"{obj['metadata']['name']} {'admitted' if admitted else 'refused'}")

    def chain(self) -> tuple[dict, dict, dict]:
        return make_chain(self.truce if self.follows else None, self.user)

    def settles(self, name: str, state: str, type_name: str = "s3/Bucket") -> None:
        """Whoever follows the cluster sees what was done last; nobody else does."""
        if self.follows:
            wait_for(lambda: self.truce.state(name, type_name) == state, SECONDS,
                     f"{name} {state}")

    def exists(self, name: str, type_name: str = "s3/Bucket") -> None:
        """The same of what its provider made: two watches have no order between them."""
        if self.follows:
            wait_for(lambda: self.truce.owner(name, type_name).get("real"), SECONDS,
                     f"{name} known to exist")

    def knows(self, name: str, account: str, state: str = "held") -> None:
        """The same of a queue, by the account in which it lies."""
        def found() -> list[str]:
            return [each["state"] for each in
                    self.truce.look_up(type=QUEUE, name=name, account=account) if each["certain"]]

        if self.follows:
            wait_for(lambda: state in found(), SECONDS, f"{name} {state} in {account}")


def by(config: str, obj: dict) -> dict:
    return {**obj, "spec": {**obj["spec"], "providerConfigRef": {"name": config}}}


def provider_config(name: str, **spec) -> dict:
    return {"apiVersion": "aws.upbound.io/v1beta1", "kind": "ProviderConfig",
            "metadata": {"name": name}, "spec": spec}


def with_role(name: str, account: str) -> dict:
    """A ProviderConfig that leads to the account."""
    role = f"arn:aws:iam::{account}:role/crossplane"
    return provider_config(
        name, credentials={"source": "IRSA"}, assumeRoleChain=[{"roleARN": role}])


def with_secret(name: str, secret: str) -> dict:
    """A ProviderConfig that does not tell where it leads."""
    reference = {"namespace": "crossplane-system", "name": secret, "key": "creds"}
    return provider_config(name, credentials={"source": "Secret", "secretRef": reference})


def arn(account: str, name: str = "jobs", service: str = "sqs") -> dict:
    return {"atProvider": {"arn": f"arn:aws:{service}:{REGION}:{account}:{name}"}}


def show(provider, obj: dict, *conditions: dict, **status) -> None:
    """The provider's status of `obj`, Ready unless it says otherwise."""
    provider.patch_status(obj, {"conditions": [SYNCED, *(conditions or (READY,))], **status}).expect()


def table(name: str, external: str) -> dict:
    return managed("dynamodb.aws.upbound.io/v1beta2", "Table", name, external)


def group(name: str, **metadata) -> dict:
    obj = managed("ec2.aws.upbound.io/v1beta1", "SecurityGroup", name, **metadata)
    obj["spec"]["forProvider"].update({"name": name, "vpcId": "vpc-1"})
    return obj
