"""Claims about the modes of authorization: which there are, and what each goes by."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from lifecycle.agreements.claim_checks.authorizing import JANE, Fixed, asked
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authz.abac import read_policy_file
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    at_once,
    decide,
)
from lifecycle.apiserver.authz.modes import AUTHORIZATION_MODES, AuthorizationOptions
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)
from lifecycle.cluster.outside_services import Webhook
from lifecycle.compare.claims import Partly, rebuilt


@rebuilt("authz-allow-all-and-deny-all-modes")
def allow_and_deny_all() -> Partly:
    """One lets everything pass; the other stops nothing that anybody else allows, and
    neither has that name.
    """
    passes = (
        AlwaysAllow().authorize(JANE, asked()).allowed
        and not AlwaysDeny().authorize(JANE, asked()).allowed
    )
    blocks_nothing = at_once(
        UnionAuthorizer(AlwaysDeny(), Fixed(ALLOW)).authorize(JANE, asked())
    ).allowed
    unknown = bool(
        AuthorizationOptions(modes=("AllowAll",)).errors()
        and AuthorizationOptions(modes=("DenyAll",)).errors()
    )
    return Partly(passes, blocks_nothing and unknown)


@rebuilt("authz-webhook-asks-external-service")
def webhook() -> bool:
    """A server of its own, with its own certificate: it gets an access review, and what
    it says counts.
    """

    async def main() -> bool:
        with tempfile.TemporaryDirectory() as folder:
            async with Webhook(
                lambda spec: {"allowed": spec["user"] == "jane"}
            ) as service:
                connection = read_webhook_kubeconfig(
                    service.write_kubeconfig(Path(folder) / "webhook")
                )
                hook = WebhookAuthorizer(WebhookClient(connection), Clock())

                async def ask(user: UserInfo) -> bool:
                    return (await decide(hook.authorize, user, asked())).allowed

                decided = [await ask(JANE), await ask(UserInfo("joe"))]
                return decided == [True, False] and [
                    spec["user"] for spec in service.specs
                ] == ["jane", "joe"]

    return on_a_loop(main())


@rebuilt("authz-abac-static-file")
def abac() -> bool:
    """A file of policies decides, and goes on deciding after it was emptied."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.jsonl"
        spec = {
            "user": "jane",
            "namespace": "shop",
            "resource": "pods",
            "readonly": True,
        }
        line = {
            "apiVersion": "abac.authorization.kubernetes.io/v1beta1",
            "kind": "Policy",
            "spec": spec,
        }
        file.write_text(json.dumps(line))
        ours = read_policy_file(file)
        file.write_text("")
    return (
        ours.authorize(JANE, asked()).allowed
        and not ours.authorize(JANE, asked("delete")).allowed
    )


@rebuilt("authz-list-of-supported-modes")
def six_modes() -> bool:
    """These six, and no other."""
    six = {"AlwaysAllow", "AlwaysDeny", "Webhook", "ABAC", "RBAC", "Node"}
    wrong = AuthorizationOptions(modes=("Bogus",)).errors()
    return set(AUTHORIZATION_MODES) == six and wrong == [
        'authorization-mode "Bogus" is not a valid mode'
    ]
