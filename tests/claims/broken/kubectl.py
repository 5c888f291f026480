"""What might go wrong in kubectl."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifecycle.historical.kubectl.generators import run
from tests.claims.broken.breakage import Breakage, Wrapped, afterwards, beforehand, constant, eventually

CHECKS = "agreements.claim_checks"


def _asks_discovery_first(create: Any) -> Any:
    async def later(session: Any, *arguments: Any, **more: Any) -> Any:
        await session.mapper()
        return await create(session, *arguments, **more)

    return later


def _prints_first(original: Any) -> Any:
    async def early(obj: Any, session: Any, *more: Any, **others: Any) -> Any:
        session.print("pod/nginx created")
        return await original(obj, session, *more, **others)

    return early


def _sends_the_authority(original: Any) -> Any:
    async def later(self: Any, request: Any) -> Any:
        request.headers = {**request.headers, "x-ca": b64encode(self._credentials._config.ca).decode()}
        return await original(self, request)

    return later


BREAKAGES = (
    Breakage(
        "run has always made pods",
        "historical.kubectl.generators.default_generator",
        constant("run-pod/v1"),
        (
            "generators-run-creates-several-kinds",
            "generators-kind-inferred-when-unspecified",
            "generators-restart-policy-always-is-deployment",
            "generators-restart-policy-never-is-pod",
            "generators-deployment-apps-v1-generator",
        ),
    ),
    Breakage(
        "whoever names a generator is not listened to",
        f"{CHECKS}.run_generators.run",
        lambda *arguments, generator="", **more: run(*arguments, **more),
        ("generators-generator-flag-selects-kind",),
    ),
    Breakage(
        "apply does not ask the server to validate",
        "kubectl.commands.apply.validation_directive",
        constant("Ignore"),
        ("client-validation-uses-cached-api-model",),
    ),
    Breakage(
        "apply keeps no note of what it applied",
        "kubectl.commands.apply.modified_configuration",
        lambda obj: {**obj, "metadata": {**obj["metadata"], "annotations": {}}},
        ("client-validation-apply-equivalent-to-create",),
    ),
    Breakage(
        "a manifest without a kind is sent",
        "kubectl.manifests._check_kind",
        constant(None),
        ("generators-kind-inferred-from-args-or-manifest",),
    ),
    Breakage("nothing is recorded", "kubectl.record.change_cause", constant(""), ("generators-record-command",)),
    Breakage(
        "a dry run of the server is none",
        "kubectl.session.Session.create",
        Wrapped(
            lambda create: (
                lambda self, resource, obj, *more, **kw: create(self, resource, obj, *more, **{**kw, "dry_run": ""})
            )
        ),
        ("generators-dry-run-skips-send",),
    ),
    Breakage(
        "create deployment asks what a Deployment is",
        "kubectl.session.Session.create_typed",
        Wrapped(_asks_discovery_first),
        ("generators-maps-object-to-group-version", "discovery-precedes-create-deployment"),
    ),
    Breakage(
        "create deployment sends JSON",
        "kubectl.session.Session.post_typed",
        lambda self, path, obj, query=None: self.send("POST", path, query, obj),
        ("generators-generators-build-request-body",),
    ),
    Breakage(
        "only the core group is found",
        "kubectl.discovery.discovery_client.DiscoveryClient.server_groups",
        afterwards(lambda found, *_: {**found, "groups": found["groups"][:1]}),
        ("discovery-client-lists-api-groups",),
    ),
    Breakage(
        "the aggregated form is not asked for",
        "kubectl.discovery.discovery_client.AGGREGATED",
        "application/json",
        ("discovery-separate-call-per-group-version",),
    ),
    Breakage(
        "the cache is where the articles say",
        f"{CHECKS}.discovery.compute_discover_cache_dir",
        lambda root, _: root.parent.parent / "schema",
        ("discovery-saved-in-kube-schema", "discovery-cache-folder-per-server"),
    ),
    Breakage(
        "group versions are not kept",
        "kubectl.discovery.cached_discovery.CachedDiscoveryClient._write",
        Wrapped(
            lambda write: lambda self, path, document: path.name == "servergroups.json" and write(self, path, document)
        ),
        ("discovery-versions-saved-under-home",),
    ),
    Breakage(
        "files never grow old",
        "kubectl.discovery.cached_discovery.CachedDiscoveryClient._cached_file",
        lambda self, path, kind: json.loads(path.read_text()) if path.exists() else None,
        ("discovery-cache-mirrors-current-server",),
    ),
    Breakage(
        "documents are kept beside the groups",
        "kubectl.discovery.http_cache.SumDiskCache.path",
        afterwards(lambda path, *_: path.parent.parent / "discovery" / path.name),
        ("discovery-openapi-cached-in-discovery-folder",),
    ),
    Breakage(
        "no file is read",
        f"{CHECKS}.kubeconfig.loading_precedence",
        constant([]),
        ("kubeconfig-home-directory-fallback", "kubeconfig-env-var-has-second-priority"),
    ),
    Breakage(
        "the flag is one file among others",
        f"{CHECKS}.kubeconfig.loading_precedence",
        lambda flag, environ: [Path(environ["KUBECONFIG"] or flag)],
        ("kubeconfig-flag-has-first-priority",),
    ),
    Breakage(
        "several candidates at home, and the first file found alone",
        f"{CHECKS}.kubeconfig.load",
        Wrapped(lambda load: lambda paths, **more: load([path for path in paths if path.exists()][:1], **more)),
        ("kubeconfig-first-file-found-in-home",),
    ),
    Breakage(
        "the first context counts, whatever the current one",
        "kubectl.kubeconfig.client_config.DirectClientConfig.context",
        lambda self: self.config["contexts"][0]["context"],
        ("kubeconfig-context-selects-cluster-and-user",),
    ),
    Breakage(
        "flags change nothing",
        f"{CHECKS}.kubeconfig.client_config",
        Wrapped(lambda config: lambda document, environ, **_: config(document, environ=environ)),
        ("kubeconfig-flags-override-file-values",),
    ),
    Breakage(
        "a token is sent over plain HTTP as well, and under another header",
        "kubectl.credentials.transport.Credentials.authorization",
        eventually(("Token t0", None)),
        (
            "client-auth-credentials-inside-http-request",
            "client-auth-bearer-token-in-authorization-header",
            "client-auth-openid-token-sent-as-bearer",
        ),
    ),
    Breakage(
        "no certificate is shown",
        "kubectl.credentials.transport.Credentials.connection",
        afterwards(lambda config, *_: replace(config, client_certificate=b"", client_key=b"")),
        ("client-auth-x509-through-tls-config",),
    ),
    Breakage(
        "run sends a PUT",
        "kubectl.session.Session.send",
        beforehand(lambda self, method, *more: (self, "PUT" if method == "POST" else method, *more)),
        ("request-transport-create-is-a-post",),
    ),
    Breakage(
        "success is told before anybody answered",
        "kubectl.commands.run._create",
        Wrapped(_prints_first),
        ("request-transport-success-printed-after-response",),
    ),
    Breakage(
        "whatever format is asked for",
        "kubectl.printers.Printer.text",
        constant("pod/nginx created\n"),
        ("request-transport-message-follows-output-format",),
    ),
    Breakage(
        "the authority's certificate is sent along",
        "kubectl.credentials.transport.AuthenticatingTransport.round_trip",
        Wrapped(_sends_the_authority),
        ("client-auth-root-ca-sent-to-server",),
    ),
    Breakage(
        "an ended token is as good as any",
        "kubectl.credentials.oidc_provider.OIDCProvider._lasts",
        constant(True),
        ("client-auth-openid-login-is-manual",),
    ),
)
