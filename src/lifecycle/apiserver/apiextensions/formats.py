"""Formats of strings that a schema may ask for.

A format outside this list is no error: the server warns of it when the definition is
written, and checks nothing.

Upstream: `apiextensions-apiserver/pkg/apiserver/validation/formats.go`
(`supportedVersionedFormats`),
`kube-openapi/pkg/validation/strfmt/{default,date,time,duration}.go`, v1.36.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from lifecycle.api.go_regexp import compile_regexp
from lifecycle.api.validation import content

_DATE_TIME = re.compile(
    r"^(\d{4})-(\d{2})-(\d{2})[tT](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[zZ]|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$"
)
_DATE = re.compile(r"^(\d{4})-(\d{2})-(\d{2})$")
_DURATION = compile_regexp(
    r"^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)\s*(?:ns|us|µs|μs|ms|s|m|h|d|w|[a-zA-Z]{3,})\s*)+)$"
)
_HOSTNAME = re.compile(
    r"^(?=.{1,255}$)[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9_](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?)*\.?$"
)
_EMAIL = compile_regexp(r"^[^@\s]+@[^@\s]+\.?[^@\s]*$")


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _address(version: int) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            return ipaddress.ip_address(text).version == version
        except ValueError:
            return False

    return check


def _cidr(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return "/" in text


def _date(text: str) -> bool:
    match = _DATE.match(text)
    return match is not None and _is_day(match)


def _date_time(text: str) -> bool:
    match = _DATE_TIME.match(text)
    return match is not None and _is_day(match)


def _is_day(match: re.Match[str]) -> bool:
    year, month, day = (int(match[i]) for i in (1, 2, 3))
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def _base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme) or text.startswith("/")


_UUID = r"[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?%s-?%s-?[0-9a-fA-F]{12}"
FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(r"[0-9a-fA-F]{24}"),
    "byte": _base64,
    "cidr": _cidr,
    "creditcard": _matches(r"[0-9 -]{13,19}"),
    "date": _date,
    "date-time": _date_time,
    "datetime": _date_time,
    "duration": lambda text: _DURATION.match(text) is not None,
    "email": lambda text: _EMAIL.match(text) is not None,
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "hostname": lambda text: _HOSTNAME.match(text) is not None,
    "ipv4": _address(4),
    "ipv6": _address(6),
    "isbn": _matches(r"(?:[0-9][ -]?){9}[0-9X]|(?:[0-9][ -]?){13}"),
    "isbn10": _matches(r"(?:[0-9][ -]?){9}[0-9X]"),
    "isbn13": _matches(r"(?:[0-9][ -]?){13}"),
    "k8s-long-name": lambda text: not content.dns1123_subdomain(text),
    "k8s-short-name": lambda text: not content.dns1123_label(text),
    "mac": _matches(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"),
    "password": lambda text: True,
    "rgbcolor": _matches(r"rgb\(\s*\d{1,3}\s*,\s*\d{1,3}\s*,\s*\d{1,3}\s*\)"),
    "ssn": _matches(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uri": _uri,
    "uuid": _matches(_UUID % ("[0-9a-fA-F]{4}", "[0-9a-fA-F]{4}")),
    "uuid3": _matches(_UUID % ("3[0-9a-fA-F]{3}", "[0-9a-fA-F]{4}")),
    "uuid4": _matches(_UUID % ("4[0-9a-fA-F]{3}", "[89abAB][0-9a-fA-F]{3}")),
    "uuid5": _matches(_UUID % ("5[0-9a-fA-F]{3}", "[89abAB][0-9a-fA-F]{3}")),
}
