"""Claims about validation and generators that no recording shows: put to our own
kubectl in front of a server that remembers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from lifecycle.agreements.apiserver.remembering_server import (
    RememberingServer,
    typed_at,
)
from lifecycle.api import protobuf
from lifecycle.compare.claims import Partly, rebuilt

DEPLOYMENT = ["create", "deployment", "nginx", "--image=nginx"]
RUN = ["run", "nginx", "--image=nginx"]
MANIFEST = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"


def _applied(server: RememberingServer, manifest: str) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "manifest.yaml")
        path.write_text(manifest)
        done = typed_at(server, ["apply", "-f", str(path)])
        return done.code, done.err


@rebuilt("client-validation-uses-cached-api-model")
def uses_cached_model() -> bool:
    """A misspelt field: a client that validates by a model of its own would refuse it.
    Ours sends it and asks the server to be strict.
    """
    server = RememberingServer()
    code, _ = _applied(server, MANIFEST + "dta: {a: b}\n")
    posts = [request for request in server.requests if request.method == "POST"]
    return not (
        code == 0
        and [request.query.get("fieldValidation") for request in posts] == [["Strict"]]
    )


@rebuilt("client-validation-apply-equivalent-to-create")
def apply_equals_create() -> Partly:
    """Both end in the same POST; only apply looks first, and leaves a note."""
    created, applied = RememberingServer(), RememberingServer()
    typed_at(created, ["create", "configmap", "settings"])
    _applied(applied, MANIFEST)
    note = applied.requests[-1].obj["metadata"]["annotations"]  # type: ignore[index,call-overload]
    return Partly(
        created.asked == applied.asked[-1:],
        len(applied.asked) == 2
        and applied.asked[0].startswith("GET ")
        and len(note) == 1,
    )


@rebuilt("generators-kind-inferred-from-args-or-manifest")
def kind_inferred() -> Partly:
    """The subcommand says the kind; a manifest has to say it itself, and is refused if
    it does not.
    """
    server = RememberingServer()
    typed_at(server, DEPLOYMENT)
    [request] = server.requests
    silent = RememberingServer()
    code, err = _applied(silent, "apiVersion: v1\nmetadata: {name: settings}\n")
    return Partly(
        protobuf.decode(request.body)["kind"] == "Deployment",
        code == 1 and "kind not set" in err and not silent.asked,
    )


@rebuilt("generators-record-command")
def record_command() -> bool:
    """With `--record` the command is on the object, without it is not; `create
    deployment` does not know the flag.
    """
    notes = []
    for more in ([], ["--record"]):
        server = RememberingServer()
        typed_at(server, [*RUN, *more])
        obj = server.requests[-1].obj
        assert isinstance(obj, dict)
        notes.append(
            (obj["metadata"].get("annotations") or {}).get("kubernetes.io/change-cause")
        )
    refused = typed_at(RememberingServer(), [*DEPLOYMENT, "--record"]).code
    return (
        notes == [None, "kubectl run nginx --image=nginx --record=true"]
        and refused == 1
    )


@rebuilt("generators-dry-run-skips-send")
def dry_run_skips() -> Partly:
    """A dry run of the client sends nothing, one of the server does."""
    client, server = RememberingServer(), RememberingServer()
    typed_at(client, [*RUN, "--dry-run=client"])
    typed_at(server, [*RUN, "--dry-run=server"])
    return Partly(
        client.asked == [], server.requests[-1].query.get("dryRun") == ["All"]
    )


@rebuilt("generators-maps-object-to-group-version")
def maps_to_group_version() -> Partly:
    """`run` asks discovery what a Pod is; `create deployment` knows."""
    looked, knew = RememberingServer(), RememberingServer()
    typed_at(looked, RUN)
    typed_at(knew, DEPLOYMENT)
    return Partly(
        looked.discovered == ["/api", "/apis"],
        knew.discovered == [] and len(knew.asked) == 1,
    )


@rebuilt("generators-generators-build-request-body")
def generators_build_body() -> Partly:
    """What `run` generated is on the wire as JSON; `create deployment` has no
    generator, and a body in protobuf.
    """
    generated, compiled_in = RememberingServer(), RememberingServer()
    typed_at(generated, RUN)
    typed_at(compiled_in, DEPLOYMENT)
    return Partly(
        isinstance(generated.requests[-1].obj, dict),
        protobuf.is_protobuf(compiled_in.requests[-1].body),
    )
