"""Windows options of a security context: credentials and the user's name.

Upstream: `pkg/apis/core/validation/validation.go`
(`validateWindowsSecurityContextOptions`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import FieldError, Named, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content

_CREDENTIALS_KIB = 64
_LONGEST_DOMAIN, _LONGEST_USER = 256, 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_NETBIOS = re.compile(r'[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}')
_DNS_LABEL = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS_DOMAIN = re.compile(rf"{_DNS_LABEL}(\.{_DNS_LABEL})*")
_DOTS_AND_SPACES = re.compile(r"[. ]+")
_FORBIDDEN = re.compile(r'["/\\:;|=,\+\*\?<>@\[\]]')


def validate_windows_options(options: Object | None, path: str) -> list[FieldError]:
    """All that may be wrong with them."""
    if options is None:
        return []
    errors: list[FieldError] = []
    name, spec, user = (
        options.get(f)
        for f in ("gmsaCredentialSpecName", "gmsaCredentialSpec", "runAsUserName")
    )
    if name is not None:
        errors += [
            invalid(f"{path}.gmsaCredentialSpecName", Named(name), why)
            for why in content.dns1123_subdomain(name)
        ]
    if spec == "":
        errors.append(
            invalid(
                f"{path}.gmsaCredentialSpec",
                spec,
                "gmsaCredentialSpec cannot be an empty string",
            )
        )
    elif spec is not None and len(spec) > _CREDENTIALS_KIB * 1024:
        why = f"gmsaCredentialSpec size must be under {_CREDENTIALS_KIB} KiB"
        errors.append(invalid(f"{path}.gmsaCredentialSpec", Named(spec), why))
    if user is not None:
        errors += [
            invalid(f"{path}.runAsUserName", Named(user), f"runAsUserName{why}")
            for why in _user_name_errors(user)
        ]
    return errors


def _user_name_errors(name: str) -> list[str]:
    if not name:
        return [" cannot be an empty string"]
    if _CONTROL.search(name):
        return [" cannot contain control characters"]
    if name.count("\\") > 1:
        return [" cannot contain more than one backslash"]
    domain, separator, user = name.rpartition("\\")
    messages: list[str] = []
    if len(domain) >= _LONGEST_DOMAIN:
        messages.append(f"'s Domain length must be under {_LONGEST_DOMAIN} characters")
    if separator and not (_NETBIOS.fullmatch(domain) or _DNS_DOMAIN.fullmatch(domain)):
        messages.append("'s Domain doesn't match the NetBios nor the DNS format")
    if not user:
        messages.append("'s User cannot be empty")
    elif len(user) > _LONGEST_USER:
        messages.append(
            f"'s User length must not be longer than {_LONGEST_USER} characters"
        )
    if _DOTS_AND_SPACES.fullmatch(user):
        messages.append("'s User cannot contain only periods or spaces")
    if _FORBIDDEN.search(user):
        messages.append(
            "'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"
        )
    return messages
