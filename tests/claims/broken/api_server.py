"""What might go wrong in the API server before anything is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.api.http.wire import Response, UserInfo
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authn.authenticator import AuthenticationError, Identity, settled
from lifecycle.apiserver.authz.authorizer import ALLOW, NO_OPINION
from lifecycle.apiserver.filters.authentication import answer_unauthorized
from lifecycle.apiserver.registry.admission import validate_all
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, beforehand, constant, eventually, nothing

CHECKS = "agreements.claim_checks"
SOMEBODY = Identity(UserInfo("somebody"))


async def _asks_everybody(self: Any, request: Any) -> Any:
    found, errors = None, []
    for authenticator in self._authenticators:
        try:
            found = await settled(authenticator.authenticate_request(request)) or found
        except AuthenticationError as error:
            errors.append(error)
    if errors:
        raise errors[-1]
    return found


async def _runs_the_last(steps: Any, attributes: Any) -> None:
    for step in steps[-1:]:
        waiting = step(attributes)
        if waiting is not None:
            await waiting


async def _runs_them_all(steps: Any, attributes: Any) -> None:
    refused = None
    for step in steps:
        try:
            waiting = step(attributes)
            if waiting is not None:
                await waiting
        except StatusError as error:
            refused = error
    if refused is not None:
        raise refused


def _admits_afterwards(create: Any) -> Any:
    async def later(self: Any, obj: Any, scope: Any, validate: Any) -> Any:
        created = await create(self, obj, scope, validate_all)
        await validate(obj, None)
        return created

    return later


def _begins_otherwise(**status: Any) -> Wrapped:
    def change(_: Any, strategy: Any, obj: Any) -> None:
        if obj.get("kind") == "Pod":
            obj["status"] = {**obj["status"], **status}

    return afterwards(change)


def _definitions_inject(create: Any) -> Any:
    defined: list[str] = []

    async def later(self: Any, resource: Any, obj: Any, *arguments: Any, **more: Any) -> Any:
        if obj.get("kind") == "CustomResourceDefinition":
            defined.append(obj["metadata"]["name"])
        elif defined:
            obj = {**obj, "metadata": {**obj["metadata"], "annotations": {"by": defined[0]}}}
        return await create(self, resource, obj, *arguments, **more)

    return later


BREAKAGES = (
    Breakage(
        "pods begin as Running",
        "apiserver.registry.store.before_create",
        _begins_otherwise(phase="Running"),
        ("scheduler-pods-pending-until-scheduled",),
    ),
    Breakage(
        "pods begin with containers that wait",
        "apiserver.registry.store.before_create",
        _begins_otherwise(containerStatuses=[{"name": "c", "state": {"waiting": {"reason": "PodInitializing"}}}]),
        ("initializers-pod-status-podinitializing",),
    ),
    Breakage(
        "a definition changes pods",
        "client.rest.Client.create",
        Wrapped(_definitions_inject),
        ("initializers-now-done-by-custom-resources",),
    ),
    Breakage(
        "what was just written is read later",
        "client.rest.Client.get",
        afterwards(lambda obj, *_: {**obj, "data": {}}),
        ("informers-apiserver-mutates-state-with-informers",),
    ),
    # -- the handler chain ------------------------------------------------------------------------------------------
    Breakage(
        "nobody is turned away",
        f"{CHECKS}.authenticating.with_authentication",
        Wrapped(lambda original: lambda handler, *_: handler),
        (
            "authn-failure-stops-the-request",
            "authn-authorization-header-removed",
            "authn-user-stored-in-request-context",
        ),
    ),
    Breakage(
        "whoever was recognised is turned away",
        f"{CHECKS}.authenticating.with_authentication",
        Wrapped(lambda original: lambda handler, *_: answer_unauthorized),
        ("authn-approval-yields-unauthorized",),
    ),
    Breakage(
        "credentials are passed on",
        "apiserver.filters.authentication.CREDENTIALS",
        frozenset(),
        ("authn-authorization-header-removed",),
    ),
    Breakage(
        "impersonation is asked of nobody",
        "apiserver.server.chain.with_impersonation",
        lambda handler, *_, **__: handler,
        ("authn-inflight-impersonation-audit-run-later",),
    ),
    Breakage(
        "CORS comes after authentication",
        "apiserver.server.chain.with_cors",
        lambda handler, *_, **__: handler,
        ("authn-cors-and-timeout-run-later",),
    ),
    Breakage(
        "no plugin is the server's own",
        f"{CHECKS}.authn_authenticators.default_plugins",
        constant([]),
        ("authn-admission-loaded-by-controller-manager",),
    ),
    # -- authentication ---------------------------------------------------------------------------------------------
    Breakage(
        "the option for certificates is ignored",
        "apiserver.authn.options._requests",
        beforehand(lambda options, tokens: (replace(options, x509=True), tokens)),
        ("authn-client-ca-adds-x509", "authn-chain-assembled-at-startup"),
    ),
    Breakage(
        "the last authenticator is asked first",
        "apiserver.authn.options._requests",
        afterwards(lambda built, *_: built[::-1]),
        ("authn-chain-assembled-at-startup",),
    ),
    Breakage(
        "the union stops at the first error",
        "apiserver.authn.union.UnionRequestAuthenticator.authenticate_request",
        _asks_everybody,
        ("authn-union-first-success-wins", "authn-all-fail-aggregate-error"),
    ),
    Breakage(
        "whose signature it is does not matter",
        "apiserver.authn.client_ca.ClientCAVerifier.verify",
        constant(None),
        ("authn-x509-verifies-against-client-ca", "authn-all-fail-aggregate-error"),
    ),
    Breakage(
        "tokens of a file are not read",
        "apiserver.authn.options.read_token_file",
        constant({}),
        ("authn-static-token-file",),
    ),
    Breakage(
        "any password will do",
        "historical.apiserver.password_file.BasicAuthAuthenticator.authenticate_request",
        lambda self, request: Identity(UserInfo("jane", ("devs",))),
        ("authn-password-authenticator",),
    ),
    Breakage(
        "a basic password makes a user",
        "apiserver.authn.bearer_token.BearerTokenAuthenticator.authenticate_request",
        constant(SOMEBODY),
        ("client-auth-basic-auth-header", "client-auth-openid-token-sent-as-bearer"),
    ),
    # -- authorization ----------------------------------------------------------------------------------------------
    Breakage(
        "the first authorizer decides alone",
        "apiserver.authz.union.UnionAuthorizer.authorize",
        lambda self, user, info: self.authorizers[0].authorize(user, info),
        ("authz-single-approval-suffices", "authz-evaluated-for-every-request", "authz-allow-all-and-deny-all-modes"),
    ),
    Breakage(
        "one voice for it outweighs a firm no",
        "apiserver.authz.union.UnionAuthorizer.authorize",
        lambda self, user, info: (
            ALLOW if any(a.authorize(user, info).allowed for a in self.authorizers) else NO_OPINION
        ),
        ("authz-all-deny-gives-forbidden",),
    ),
    Breakage(
        "the configuration's order does not count",
        "apiserver.authz.configuration.build_authorizers",
        afterwards(lambda built, *_: built[::-1]),
        ("authz-chain-built-from-config",),
    ),
    Breakage(
        "a firm no is taken for no opinion",
        f"{CHECKS}.authz_modes.AlwaysAllow.authorize",
        constant(NO_OPINION),
        ("authz-allow-all-and-deny-all-modes",),
    ),
    Breakage(
        "what the webhook says is not read",
        "apiserver.authz.webhook.WebhookAuthorizer.authorize",
        constant(ALLOW),
        ("authz-webhook-asks-external-service",),
    ),
    Breakage(
        "a policy for reading lets write",
        "apiserver.authz.abac.Policy.matches",
        constant(True),
        ("authz-abac-static-file",),
    ),
    Breakage(
        "a node may read everything",
        "apiserver.authz.node.NodeAuthorizer._related",
        constant(ALLOW),
        ("authz-node-limited-to-own-resources", "authz-node-authorizer-needs-cluster-state"),
    ),
    Breakage(
        "any word is a mode",
        "apiserver.authz.modes.AuthorizationOptions.errors",
        constant([]),
        ("authz-list-of-supported-modes", "authz-allow-all-and-deny-all-modes"),
    ),
    Breakage(
        "a seventh mode",
        f"{CHECKS}.authz_modes.AUTHORIZATION_MODES",
        ("AlwaysAllow", "AlwaysDeny", "Webhook", "ABAC", "RBAC", "Node", "Guess"),
        ("authz-list-of-supported-modes",),
    ),
    Breakage(
        "roles hold for everybody",
        "apiserver.authz.rbac.RBACAuthorizer.authorize",
        constant(ALLOW),
        ("authz-rbac-uses-identity-from-authn", "authz-rbac-reads-roles-through-informers"),
    ),
    Breakage(
        "roles are listed for each question",
        "apiserver.authz.rbac.RBACAuthorizer._current",
        lambda self: self._index(0),
        ("authz-rbac-reads-roles-through-informers",),
    ),
    # -- aggregation ------------------------------------------------------------------------------------------------
    Breakage(
        "nothing is asked of another server",
        "apiserver.aggregation.aggregator.Aggregator.__call__",
        lambda self, request: self._delegate(request),
        ("aggregation-adds-further-apis", "aggregation-layer-authenticates-and-authorizes"),
    ),
    Breakage(
        "the aggregator answers everything itself",
        "apiserver.aggregation.aggregator.Aggregator.__call__",
        eventually(Response(200, obj={"groups": []})),
        ("aggregation-layer-is-entered-first", "aggregation-adds-further-apis"),
    ),
    # -- admission --------------------------------------------------------------------------------------------------
    Breakage(
        "nobody is asked about an object",
        "apiserver.admission.chain._run",
        nothing,
        (
            "admission-runs-between-authz-and-storage",
            "admission-can-refuse-authorized-request",
            "admission-named-plugins-form-a-chain",
            "admission-one-failure-fails-request",
            "admission-error-becomes-http-response",
            "admission-rejected-object-not-persisted",
            "admission-enabled-by-server-flag",
            "admission-registry-allow-list-possible",
            "admission-plugins-live-in-one-directory",
            "admission-small-interface",
        ),
    ),
    Breakage(
        "the last plugin alone is asked",
        "apiserver.admission.chain._run",
        _runs_the_last,
        ("admission-named-plugins-form-a-chain", "admission-one-failure-fails-request"),
    ),
    Breakage(
        "all plugins are asked, whoever refused",
        "apiserver.admission.chain._run",
        _runs_them_all,
        ("admission-one-failure-fails-request",),
    ),
    Breakage(
        "admission comes when all is stored",
        "apiserver.registry.store.ResourceStore.create",
        Wrapped(
            lambda create: _admits_afterwards(create),
        ),
        ("admission-runs-between-authz-and-storage", "admission-rejected-object-not-persisted"),
    ),
    Breakage(
        "pod security refuses nobody",
        "apiserver.admission.pod_security.PodSecurity.validate",
        constant(None),
        ("admission-only-validates", "admission-four-categories"),
    ),
    Breakage(
        "no defaults are filled in",
        "apiserver.admission.limit_ranger._set_defaults",
        constant(None),
        ("admission-limitranger-sets-defaults", "admission-only-validates", "admission-four-categories"),
    ),
    Breakage(
        "no limit is too high",
        "apiserver.admission.limit_ranger._violations",
        constant([]),
        ("admission-limitranger-enforces-maximum", "admission-four-categories"),
    ),
    Breakage(
        "what was used so far is forgotten",
        "apiserver.admission.resource_quota._charge",
        lambda quota, attributes: quota,
        ("admission-quota-counts-objects", "admission-quota-limits-compute-and-storage"),
    ),
    Breakage(
        "every image is as hungry as any",
        "historical.apiserver.initial_resources.InitialResources.estimate",
        constant((120, 40)),
        ("admission-initial-resources-plugin",),
    ),
    Breakage(
        "a token's account is not looked up",
        "apiserver.authn.service_account.ServiceAccountTokens._identity",
        constant(SOMEBODY),
        ("authn-users-and-service-accounts",),
    ),
)
