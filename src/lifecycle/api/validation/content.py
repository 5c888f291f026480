"""The formats of strings: labels, names, ports, keys, addresses.

Each function returns what is wrong, in upstream's words, as a tuple of messages; an
empty tuple means fine. Results are remembered: the same few names come again and again.

Upstream: `apimachinery/pkg/api/validate/content/{dns,kube,identifier,path}.go`,
`apimachinery/pkg/util/validation/validation.go`, v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lifecycle.api.bounded_cache import short_lru_cache

Messages = tuple[str, ...]
Rule = Callable[[str], Messages]
NameFunction = Callable[[str, bool], Messages]

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_KEY})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_ENV_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*"
_HEADER = "[-A-Za-z0-9]+"
_PERCENT = "[0-9]+%"

_compiled: dict[str, re.Pattern[str]] = {}


def _matches(pattern: str, text: str) -> bool:
    compiled = _compiled.get(pattern)
    if compiled is None:
        compiled = _compiled[pattern] = re.compile(pattern)
    return compiled.fullmatch(text) is not None


def regex_error(message: str, pattern: str, *examples: str) -> str:
    """The message with its examples and the pattern behind it."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    quoted = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {quoted}regex used for validation is '{pattern}')"


def max_length_error(limit: int) -> str:
    """Too many bytes."""
    return f"must be no more than {limit} bytes"


def _max_characters(limit: int) -> str:
    return f"must be no more than {limit} characters"


def range_error(low: int, high: int) -> str:
    """Outside a closed interval."""
    return f"must be between {low} and {high}, inclusive"


@short_lru_cache(8192)
def dns1123_label(text: str) -> Messages:
    """A DNS label: lower case, digits, hyphens, at most 63."""
    errs = [_max_characters(63)] if len(text) > 63 else []
    if not _matches(_LABEL, text):
        if _matches(_SUBDOMAIN, text):
            errs.append("must not contain dots")
        else:
            err_msg = (
                "a lowercase RFC 1123 label must consist of lower case alphanumeric"
                " characters or '-', and must start and end with an alphanumeric"
                " character"
            )
            errs.append(regex_error(err_msg, _LABEL, "my-name", "123-abc"))
    return tuple(errs)


@short_lru_cache(8192)
def dns1123_subdomain(text: str) -> Messages:
    """DNS labels joined by dots, at most 253."""
    errs = [_max_characters(253)] if len(text) > 253 else []
    if not _matches(_SUBDOMAIN, text):
        err_msg = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
            " characters, '-' or '.', and must start and end with an alphanumeric"
            " character"
        )
        errs.append(regex_error(err_msg, _SUBDOMAIN, "example.com"))
    return tuple(errs)


@short_lru_cache(1024)
def dns1035_label(text: str) -> Messages:
    """A DNS label that starts with a letter."""
    errs = [_max_characters(63)] if len(text) > 63 else []
    if not _matches(_LABEL_1035, text):
        err_msg = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or"
            " '-', start with an alphabetic character, and end with an alphanumeric"
            " character"
        )
        errs.append(regex_error(err_msg, _LABEL_1035, "my-name", "abc-123"))
    return tuple(errs)


@short_lru_cache(256)
def wildcard_dns1123_subdomain(text: str) -> Messages:
    """`*.` and a subdomain."""
    pattern = rf"\*\.{_SUBDOMAIN}"
    errs = [_max_characters(253)] if len(text) > 253 else []
    if not _matches(pattern, text):
        err_msg = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid"
            " DNS subdomain, which must consist of lower case alphanumeric characters,"
            " '-' or '.' and end with an alphanumeric character"
        )
        errs.append(regex_error(err_msg, pattern, "*.example.com"))
    return tuple(errs)


@short_lru_cache(8192)
def qualified_name(text: str) -> Messages:
    """A label key: an optional DNS prefix and a name."""
    err_msg = (
        "must consist of alphanumeric characters, '-', '_' or '.', and must start and"
        " end with an alphanumeric character"
    )
    key_error = regex_error(err_msg, _KEY, "MyName", "my.name", "123-abc")
    parts = text.split("/")
    errs: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        if not prefix:
            errs.append("prefix part must be non-empty")
        else:
            errs += [f"prefix part {message}" for message in dns1123_subdomain(prefix)]
    elif len(parts) > 2:
        return (
            (
                f"a valid label key {key_error} with an optional DNS subdomain prefix"
                " and '/' (e.g. 'example.com/MyName')"
            ),
        )
    name = parts[-1]
    if not name:
        errs.append("name part must be non-empty")
    elif len(name) > 63:
        errs.append(f"name part {max_length_error(63)}")
    if not _matches(_KEY, name):
        errs.append(f"name part {key_error}")
    return tuple(errs)


@short_lru_cache(8192)
def label_value(text: str) -> Messages:
    """A label value."""
    errs = [max_length_error(63)] if len(text) > 63 else []
    if not _matches(_VALUE, text):
        err_msg = (
            "a valid label must be an empty string or consist of alphanumeric"
            " characters, '-', '_' or '.', and must start and end with an alphanumeric"
            " character"
        )
        errs.append(regex_error(err_msg, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(errs)


def _dots(text: str) -> list[str]:
    if text == ".":
        return ["must not be '.'"]
    if text == "..":
        return ["must not be '..'"]
    return ["must not start with '..'"] if text.startswith("..") else []


@short_lru_cache(2048)
def config_map_key(text: str) -> Messages:
    """A key of a ConfigMap or Secret: it becomes a file name."""
    errs = [_max_characters(253)] if len(text) > 253 else []
    if not _matches(_CONFIG_KEY, text):
        err_msg = (
            "a valid config key must consist of alphanumeric characters, '-', '_'"
            " or '.'"
        )
        errs.append(
            regex_error(err_msg, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name")
        )
    return tuple(errs + _dots(text))


@short_lru_cache(4096)
def relaxed_env_name(text: str) -> Messages:
    """An environment variable's name: printable ASCII without `=`."""
    errs = [] if text else ["environment variable name must be non-empty"]
    if not all(" " <= char <= "~" and char != "=" for char in text):
        errs.append(
            "a valid environment variable name must consist only of printable ASCII"
            " characters other than '='"
        )
    return tuple(errs)


@short_lru_cache(1024)
def port_name(text: str) -> Messages:
    """An IANA service name."""
    errs = []
    if len(text) > 15:
        errs.append(_max_characters(15))
    if not _matches("[-a-z0-9]+", text):
        errs.append(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"
        )
    if not any("a" <= char <= "z" for char in text):
        errs.append("must contain at least one letter (a-z)")
    if "--" in text:
        errs.append("must not contain consecutive hyphens")
    if text and (text[0] == "-" or text[-1] == "-"):
        errs.append("must not begin or end with a hyphen")
    return tuple(errs)


def port_number(number: int) -> Messages:
    """1 to 65535."""
    return () if 1 <= number <= 65535 else (range_error(1, 65535),)


def user_id(number: int) -> Messages:
    """A user or group ID."""
    return () if 0 <= number <= 2147483647 else (range_error(0, 2147483647),)


def http_header_name(text: str) -> Messages:
    """A header's name."""
    if _matches(_HEADER, text):
        return ()
    return (
        regex_error(
            "a valid HTTP header must consist of alphanumeric characters or '-'",
            _HEADER,
            "X-Header-Name",
        ),
    )


def percent(text: str) -> Messages:
    """`25%`."""
    if _matches(_PERCENT, text):
        return ()
    return (
        regex_error(
            "a valid percent string must be a numeric string followed by an ending '%'",
            _PERCENT,
            "1%",
            "93%",
        ),
    )


def _mask_trailing_dash(name: str) -> str:
    return name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name


def name_is_dns_subdomain(name: str, prefix: bool) -> Messages:
    """The rule for most object names; a `generateName` may end in a hyphen."""
    return dns1123_subdomain(_mask_trailing_dash(name) if prefix else name)


def name_is_dns_label(name: str, prefix: bool) -> Messages:
    """The rule for namespaces and the like."""
    return dns1123_label(_mask_trailing_dash(name) if prefix else name)


def name_is_path_segment(name: str, prefix: bool) -> Messages:
    """The rule for names that only have to fit into a URL (RBAC, custom resources)."""
    if not prefix and name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{part}'" for part in ("/", "%") if part in name)


def request_name(name: str) -> str:
    """What a client library says of a name that fits into no URL; empty if it does.
    Upstream: `client-go/rest/request.go` (`Request.Name`).
    """
    why = " ".join(name_is_path_segment(name, False))
    return f'invalid resource name "{name}": [{why}]' if why else ""
