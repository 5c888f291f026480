"""What is wrong with an `EncryptionConfiguration`.

Everything is said at once, and no key is repeated: what is wrong with a secret is said
of `REDACTED`. (Upstream forgets that in one place, where an element has two providers:
it prints the whole element into its log. Here secrets are blotted out there, too.)

Upstream: `apiserver/pkg/apis/apiserver/validation/validation_encryption.go`
(`ValidateEncryptionConfiguration`), v1.36. Left out: checks of an endpoint's address
beyond its scheme.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.go.duration import parse_duration
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.storage.value import aes, secretbox

GroupResource = tuple[str, str]

ANY: GroupResource = ("*", "*")
"""`*.*`."""

PROVIDERS = {
    "aesgcm": "AESGCM",
    "aescbc": "AESCBC",
    "secretbox": "Secretbox",
    "identity": "Identity",
    "kms": "KMS",
}
"""Of which each element has one, with their names in Go."""

REDACTED = "REDACTED"
WITHOUT_REST_API = (
    "apiserveripinfo",
    "serviceipallocations",
    "servicenodeportallocations",
)
OVERLAP = (
    "using overlapping resources such as 'secrets' and '*.' in the same resource list"
    " is not allowed as they will be masked"
)
NO_PROVIDER = (
    "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC,"
    " Secretbox, Identity"
)
TWO_PROVIDERS = (
    "more than one provider specified in a single element, should split into different"
    " list elements"
)


def parse_group_resource(text: str) -> GroupResource:
    """`deployments.apps` as group and plural; without a dot the group is the core's,
    which has no name.
    """
    plural, _, group = text.partition(".")
    return group, plural


def validate_encryption_configuration(
    config: Object, reload: bool
) -> Iterator[FieldError]:
    """Everything that is wrong. `reload` is stricter about the names of KMS
    providers.
    """
    resources = config.get("resources") or []
    if not resources:
        yield required("resources", "at least one resources is required")
    kms_names: set[str] = set()
    for i, entry in enumerate(resources):
        names, providers = entry.get("resources") or [], entry.get("providers") or []
        path = f"resources[{i}].resources"
        if not names:
            yield required(path, f"at least one {path} is required")
        yield from _validate_overlap(names, path)
        for j, name in enumerate(names):
            if why := _wrong_name(name):
                yield invalid(f"{path}[{j}]", name, why)
        path = f"resources[{i}].providers"
        if not providers:
            yield required(path, f"at least one {path} is required")
        for j, provider in enumerate(providers):
            yield from _validate_provider(provider, f"{path}[{j}]", kms_names, reload)


def _validate_overlap(names: list[str], path: str) -> Iterator[FieldError]:
    parsed = [parse_group_resource(name) for name in names]
    twice = overlap = False
    for i, one in enumerate(parsed):
        for j, other in enumerate(parsed):
            if i == j:
                continue
            if one == other and not twice:
                twice = True
            elif one == ANY or (one[0] == other[0] and "*" in (one[1], other[1])):
                overlap = True
    if twice:
        why = "the same resource cannot be specified multiple times"
        yield invalid(path, names, why)
    if overlap:
        yield invalid(path, names, OVERLAP)


def _wrong_name(name: str) -> str:
    group, plural = parse_group_resource(name)
    if name.lower() != name:
        return "resource name should not contain capital letters"
    if name == "*":
        return (
            "use '*.' to encrypt all the resources from core API group or *.* to"
            " encrypt all resources"
        )
    if name in WITHOUT_REST_API:
        return "resources which do not have REST API/s cannot be encrypted"
    if group == "events.k8s.io":
        return (
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd."
            " Use 'events' instead in the config file"
        )
    if group == "extensions":
        return "'extensions' group has been removed and cannot be used for encryption"
    if group == "*" and plural != "*":
        return "encrypting the same resource across groups is not supported"
    return ""


def _validate_provider(
    provider: Object, path: str, kms_names: set[str], reload: bool
) -> Iterator[FieldError]:
    chosen = [name for name in PROVIDERS if provider.get(name) is not None]
    if len(chosen) != 1:
        yield invalid(path, _shown(provider), TWO_PROVIDERS if chosen else NO_PROVIDER)
    if "kms" in chosen:
        yield from _validate_kms(provider["kms"], f"{path}.kms", kms_names, reload)
        kms_names.add(provider["kms"].get("name") or "")
        return
    for name, sizes in (
        ("aesgcm", aes.KEY_SIZES),
        ("aescbc", aes.KEY_SIZES),
        ("secretbox", secretbox.KEY_SIZES),
    ):
        if name in chosen:
            keys = provider[name].get("keys") or []
            yield from _validate_keys(keys, f"{path}.{name}.keys", sizes)
            return


def _shown(provider: Object) -> Object:
    """An element as Go's JSON shows it, but for its secrets."""
    shown: dict[str, Any] = {}
    for name, go_name in PROVIDERS.items():
        value = provider.get(name)
        if value is not None and name in ("aesgcm", "aescbc", "secretbox"):
            keys = [
                {"Name": key.get("name", ""), "Secret": REDACTED}
                for key in value.get("keys") or ()
            ]
            value = {"Keys": keys or None}
        shown[go_name] = value
    return shown


def _validate_keys(
    keys: list[Object], path: str, sizes: Sequence[int]
) -> Iterator[FieldError]:
    if not keys:
        yield required(path, "at least one keys is required")
    for i, key in enumerate(keys):
        if not key.get("name"):
            yield required(f"{path}[{i}].name", "name is a mandatory field for a key")
        secret = f"{path}[{i}].secret"
        if not key.get("secret"):
            yield required(secret, "secret is a mandatory field for a key")
            continue
        try:
            size = len(decode_secret(key["secret"]))
        except ValueError:
            yield invalid(secret, REDACTED, "secrets must be base64 encoded")
            continue
        if size not in sizes:
            expected = " ".join(map(str, sizes))
            yield invalid(
                secret,
                REDACTED,
                f"secret is not of the expected length, got {size}, expected one of"
                f" [{expected}]",
            )


def decode_secret(text: str) -> bytes:
    """A key's bytes. Raises ValueError for what is not base64; line breaks do not
    count.
    """
    try:
        return base64.b64decode(
            text.replace("\r", "").replace("\n", "").encode("ascii"), validate=True
        )
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("not base64") from None


def _validate_kms(
    kms: Object, path: str, names: set[str], reload: bool
) -> Iterator[FieldError]:
    name, version = kms.get("name") or "", kms.get("apiVersion") or "v1"
    if not name:
        yield required(f"{path}.name", "name is a mandatory field for a provider")
    if version != "v1" and ":" in name:
        yield invalid(
            f"{path}.name",
            name,
            f"invalid KMS provider name {name}, must not contain ':'",
        )
    if (reload or version != "v1") and name in names:
        yield invalid(
            f"{path}.name",
            name,
            f"duplicate KMS provider name {name}, names must be unique",
        )
    timeout = kms.get("timeout")
    if timeout is not None and parse_duration(timeout) <= 0:
        yield invalid(f"{path}.timeout", timeout, "timeout should be a positive value")
    endpoint = kms.get("endpoint") or ""
    scheme, separator, _ = endpoint.partition(":")
    if not endpoint:
        yield invalid(f"{path}.endpoint", "", "endpoint is a mandatory field for a kms")
    elif scheme != "unix" or not separator:
        yield invalid(
            f"{path}.endpoint",
            endpoint,
            f"unsupported scheme {go_quote(scheme if separator else '')} for KMS"
            " provider, only unix is supported",
        )
    size = kms.get("cachesize")
    if version != "v1" and size is not None:
        yield invalid(f"{path}.cachesize", size, "cachesize is not supported in v2")
    if version == "v1" and size == 0:
        yield invalid(
            f"{path}.cachesize",
            size,
            "cachesize should be a positive value, or negative to disable",
        )
    if version not in ("v1", "v2"):
        yield invalid(
            f"{path}.apiVersion",
            version,
            "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are"
            " supported",
        )
