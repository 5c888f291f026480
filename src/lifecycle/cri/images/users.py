"""Who runs in a container: numbers for the names in an image's `USER` and in a pod's
security context.

The image's own `/etc/passwd` and `/etc/group` decide, not the machine's. A user without
a group gets the one that `passwd` names for it, group 0 otherwise; and all groups that
list the user, unless the pod asks for strict ones.

Upstream: containerd `pkg/oci/spec_opts.go` (`WithUser`, `WithUserID`,
`WithAdditionalGIDs`), `internal/cri/server/container_create.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.message import Fields


def resolve_user(
    security: Fields, image_user: str, read: Callable[[str], str]
) -> dict[str, Any]:
    """`uid`, `gid`, `additionalGids`. `read` gives a file of the image. Raises
    RuntimeServiceError for an unknown name.
    """
    passwd = [
        line.split(":")
        for line in read("/etc/passwd").splitlines()
        if line.count(":") >= 6
    ]
    groups = [
        line.split(":")
        for line in read("/etc/group").splitlines()
        if line.count(":") >= 3
    ]
    run_as_user, group = security.get("run_as_user"), security.get("run_as_group")
    if run_as_user is not None:
        user, _, named_group = str(run_as_user.get("value", 0)), "", ""
    elif security.get("run_as_username"):
        user, named_group = security["run_as_username"], ""
    else:
        user, _, named_group = (image_user or "0").partition(":")
    entry = next((line for line in passwd if user in (line[0], line[2])), None)
    if entry is None and not user.isdigit():
        raise RuntimeServiceError(
            "rpc error: code = Unknown desc = failed to generate spec: unable to find"
            f" user {user}: no matching entries in passwd file"
        )
    uid = int(entry[2]) if entry else int(user)
    gid = int(entry[3]) if entry else 0
    if group is not None:
        gid = group.get("value", 0)
    elif named_group:
        group_entry = next(
            (line for line in groups if named_group in (line[0], line[2])), None
        )
        if group_entry is None and not named_group.isdigit():
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to generate spec: no matching"
                f" entries in group file for {named_group}"
            )
        gid = int(group_entry[2]) if group_entry else int(named_group)
    extra = [gid]
    if security.get("supplemental_groups_policy") != "Strict" and entry is not None:
        extra += [int(line[2]) for line in groups if entry[0] in line[3].split(",")]
    extra += [int(number) for number in security.get("supplemental_groups") or ()]
    return {"uid": uid, "gid": gid, "additionalGids": list(dict.fromkeys(extra))}
