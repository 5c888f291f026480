"""`kubectl create token NAME`: a token of a service account, for a while, perhaps bound
to an object.

Upstream: `kubectl/pkg/cmd/create/create_token.go` (`TokenOptions.Validate`, `Run`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError, ConnectionFailed, UsageError
from lifecycle.kubectl.flags import PRINT, Parsed, flag, parse
from lifecycle.kubectl.printers import Printer, typed
from lifecycle.kubectl.session import Session

FLAGS = (
    *PRINT,
    flag("audience", "array"),
    flag("duration", "duration"),
    flag("bound-object-kind"),
    flag("bound-object-name"),
    flag("bound-object-uid"),
)
BOUND_KINDS = ("Node", "Pod", "Secret")


async def create_token(argv: list[str], session: Session) -> None:
    """Run `kubectl create token ARGV`."""
    p = parse(argv, FLAGS, "create token")
    if len(p.args) != 1:
        raise UsageError(
            f"exactly one NAME is required, got {len(p.args)}", "create token"
        )
    printer = Printer(p)
    spec = _spec(p)
    obj: Object = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "metadata": {},
        "spec": spec,
    }
    path = f"/api/v1/namespaces/{session.namespace}/serviceaccounts/{p.args[0]}/token"
    try:
        response = typed(await session.post_typed(path, typed(obj)))
    except (StatusError, ConnectionFailed) as error:
        message = error.message if isinstance(error, StatusError) else str(error)
        raise CommandError(f"failed to create token: {message}") from None
    token = (response.get("status") or {}).get("token", "")
    if not token:
        raise CommandError("failed to create token: no token in server response")
    session.print(
        printer.text(response, "created") if p["output"] or p["template"] else token
    )


def _spec(p: Parsed) -> Object:
    _validate(p)
    spec: Object = {"audiences": list(p["audience"]) or None}
    if p["duration"] > 0:
        spec["expirationSeconds"] = int(p["duration"])
    if p["bound-object-kind"]:
        ref = {
            "kind": p["bound-object-kind"],
            "apiVersion": "v1",
            "name": p["bound-object-name"],
        }
        spec["boundObjectRef"] = (
            {**ref, "uid": p["bound-object-uid"]} if p["bound-object-uid"] else ref
        )
    return spec


def _validate(p: Parsed) -> None:
    if not p.args[0]:
        raise CommandError("service account name is required")
    if p["duration"] < 0:
        raise CommandError("--duration must be greater than or equal to 0")
    if p["duration"] % 1:
        raise CommandError("--duration cannot be expressed in units less than seconds")
    if "" in p["audience"]:
        raise CommandError("--audience must not be an empty string")
    if not p["bound-object-kind"]:
        for part in ("name", "uid"):
            if p[f"bound-object-{part}"]:
                raise CommandError(
                    f"--bound-object-{part} can only be set if --bound-object-kind is"
                    " provided"
                )
    elif p["bound-object-kind"] not in BOUND_KINDS:
        raise CommandError(
            f"supported --bound-object-kind values are {', '.join(BOUND_KINDS)}"
        )
    elif not p["bound-object-name"]:
        raise CommandError(
            "--bound-object-name is required if --bound-object-kind is provided"
        )
