"""Formats of strings that a schema may ask for.

A format outside this list is no error: the server warns of it when the definition is
written, and checks nothing. A dash more or less makes no other format.

Upstream: `apiextensions-apiserver/pkg/apiserver/validation/formats.go`
(`supportedVersionedFormats`, `GetUnrecognizedFormats`),
`kube-openapi/pkg/validation/strfmt/default.go`,
`kube-openapi/pkg/internal/third_party/govalidator`, v1.36.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lifecycle.api.go.url import go_url_problem
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import is_go_ip, parse_ip, parse_network
from lifecycle.apiserver.apiextensions.host_names import is_host_name
from lifecycle.apiserver.apiextensions.mail_addresses import is_mail_address
from lifecycle.apiserver.apiextensions.numbers_with_a_check import is_card, is_isbn
from lifecycle.apiserver.apiextensions.times import is_date, is_date_time, is_duration


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


def _is_ipv4(text: str) -> bool:
    """One that has a dot: an IPv6 address may end in an IPv4 one."""
    return "." in text and parse_ip(text) is not None


def _is_isbn(*lengths: int) -> Callable[[str], bool]:
    return lambda text: any(is_isbn(text, length) for length in lengths)


_HEX = "[0-9a-fA-F]"
_BYTE_IN_COLOR = r"(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])"
_BETWEEN = r"[\t\n\f\r ]*,[\t\n\f\r ]*"
_UUID = f"{_HEX}{{8}}-?{_HEX}{{4}}-?%s-?%s-?{_HEX}{{12}}"
_VARIANT = f"[89abAB]{_HEX}{{3}}"
_MAC = "|".join(
    (
        *(f"{_HEX}{{2}}({s}{_HEX}{{2}}){{{n}}}" for s in ":-" for n in (5, 7, 19)),
        *(rf"{_HEX}{{4}}(\.{_HEX}{{4}}){{{n}}}" for n in (2, 3, 9)),
        *(f"{_HEX}{{{n}}}" for n in (12, 16, 40)),
    )
)
_CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}"),
    "byte": _matches(
        r"([A-Za-z0-9+/]{4})*"
        r"([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
    ),
    "cidr": lambda text: parse_network(text) is not None,
    "creditcard": is_card,
    "date": is_date,
    "date-time": is_date_time,
    "duration": is_duration,
    "email": is_mail_address,
    "hexcolor": _matches(f"#?({_HEX}{{3}}|{_HEX}{{6}})"),
    "hostname": is_host_name,
    "ipv4": _is_ipv4,
    "ipv6": lambda text: ":" in text and is_go_ip(text),
    "isbn": _is_isbn(10, 13),
    "isbn10": _is_isbn(10),
    "isbn13": _is_isbn(13),
    "k8s-long-name": lambda text: not content.dns1123_subdomain(text),
    "k8s-short-name": lambda text: not content.dns1123_label(text),
    "mac": _matches(_MAC),
    "password": lambda text: True,
    "rgbcolor": _matches(
        rf"rgb\([\t\n\f\r ]*{_BETWEEN.join([_BYTE_IN_COLOR] * 3)}[\t\n\f\r ]*\)"
    ),
    "ssn": _matches(
        "[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}"  # a rule takes fewer, another wants eleven
    ),
    "uri": lambda text: not go_url_problem(text, of_a_request=True),
    "uuid": _matches(_UUID % (f"{_HEX}{{4}}", f"{_HEX}{{4}}")),
    "uuid3": _matches(_UUID % (f"3{_HEX}{{3}}", f"{_HEX}{{4}}")),
    "uuid4": _matches(_UUID % (f"4{_HEX}{{3}}", _VARIANT)),
    "uuid5": _matches(_UUID % (f"5{_HEX}{{3}}", _VARIANT)),
}
_FORMATS = {name.replace("-", ""): check for name, check in _CHECKS.items()}
_OF_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def checked_format(schema: Object) -> str:
    """The format of a schema, if it is one that values of its type are checked for."""
    form: Any = schema.get("format")
    if not isinstance(form, str):
        return ""
    return "" if is_unrecognized(form, schema.get("type") or "") else form


def is_unrecognized(form: str, type_: str) -> bool:
    """A format that nobody checks for this type (empty: whatever may be a string)."""
    if type_ in ("", "string"):
        return form.replace("-", "") not in _FORMATS
    return form not in _OF_NUMBERS.get(type_, ())


def is_of_format(text: str, form: str) -> bool:
    """Is a text what a format asks for? Formats of numbers ask nothing of it."""
    check = _FORMATS.get(form.replace("-", ""))
    return check is None or check(text)
