"""Texts that are nearly of some format, and a custom kind that has a list of each format: one request asks for hundreds.

What a format takes is decided by Go's parsers (`net/mail`, `net/url`, `net`, `time`) and old regular expressions; where they and a
sensible reading part is found by trying. Each format is asked for the good and bad examples of all formats, and for its own with
something changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from lifecycle.apiserver.apiextensions.formats import is_of_format
from tests.differential.case import Case, Step
from tests.differential.definitions import GROUP, definition

SEED = 1_362
CHANGED = 160
AT_ONCE = 100

_UUID = "0123abcd-89ab-%s-%s-0123456789ab"
EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "bsonobjectid": ("507f1f77bcf86cd799439011", "507F1F77BCF86CD799439011", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111"),
    "byte": ("aGVsbG8=", "aGVsbG8", "aGk=", "aA==", "aA=", "a===", "YWJj", "-_-_", "+/+/", "a GVs", "aGVs\nbG8=", "====", "QQ==QQ==",
        "YWJjZB=="),
    "cidr": ("10.0.0.0/8", "10.0.0.1/8", "010.0.0.0/08", "10.0.0.0/33", "10.0.0/8", "10.0.0.0", "fd00::/64", "fd00::1/129", "::/0",
        "/8",
             "::ffff:10.0.0.0/104", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8", "fd00::%eth0/64", "10.0.0.0/255.0.0.0",
             "256.0.0.0/8", "0.0.0.0/0", "10.0.0.0/00000008", "fd00::1.2.3.4/96", "fd00::01.2.3.4/96"),
    "creditcard": ("4111111111111111", "4111-1111-1111-1111", "4111 1111 1111 1112", "378282246310005", "5555555555554444",
        "6011111111111117",
                   "30569309025904", "3530111333300000", "2221000000000009", "4222222222222", "x4111y1111z1111w1111",
        "6200000000000005",
                   "4111111111111111111", "０4111111111111111", "180000000000000", "213100000000001"),
    "date": ("2024-02-29", "2023-02-29", "2024-2-29", "2024-13-01", "2024-00-10", "2024-01-00", "0000-01-01", "9999-12-31",
        "10000-01-01",
             "2024-01-01Z", "24-01-01", "+2024-01-01", "-001-01-01", "2024/01/01", "2024-01-1", "20240101", "2024-04-31", "1900-02-29",
             "2000-02-29", "2024-1 -01", "2024-01- 1"),
    "date-time": ("2024-02-29T12:30:15Z", "2024-02-29t12:30:15z", "2024-02-29 12:30:15Z", "2024-02-29T24:00:00Z",
        "2024-02-29T23:59:60Z",
                  "2024-02-29T12:30:15", "2024-02-29T12:30:15+00:00", "2024-02-29T12:30:15+99:99", "2024-02-29T12:30:15+0000",
                  "2024-02-29T12:30:15.Z", "2024-02-29T12:30:15.123456789Z", "2024-02-29T12:30:15,5Z", "2024-02-29T12:30:15x5Z",
                  "2024-02-29T12:30Z", "2023-02-29T12:30:15Z", "2024-02-29T12:30:15ZT", "2024-02-29T12:60:15Z", "2024-02-29TT12:30:15Z",
                  "2024-02-29T12:30:15-24:60", "2024-02-29T1:30:15Z", "T12:30:15Z", "2024-02-29T", "2024-02-29T99:30:15Z", "t", "T1tT",
                  "2024-02-29T12:30:15.1.2Z", "2024-02-29T12:30:15 1Z", "2024-02-29T12:30:15z\n", "2024-02-29T12:30:15\n5Z"),
    "duration": ("1h", "1h30m", "-1.5h", "+5s", "0", "1", "", "1 h", "22 ns", "3 days", "3d", "2 weeks", "2w", "1 fortnight",
        "1hour 2 min", "1H",
                 "1 Sec", "secs", "1.5 days", ".5s", "5.s", ".s", "1µs", "1μs", "1us", "1 micros", "1 nanosecond", "9223372036s",
        "9223372037s",
                 "2562047h47m16.854775807s", "2562047h47m16.854775808s", "-2562047h47m16.854775808s", "x1d", "1dx", "1day2", "1d 2",
        "P1D",
                 "1 millisecondz", "1 hrs", "1 wk", "1 wks", "99999999999999999999d", "9223372036854775807d", "1_000s", "1e3s",
        "--1s", "１s",
                 "1mo", "1 month", "1msx", "1 m s", "3mins", "3 Minutes!", "1y", "1y 2d", "1µ", "1 MICRO", "1 ΜS", "3000000h"),
    "email": ("a@b", "a@b.c", "a.b@c", "a..b@c", ".a@b", "a.@b", "a@b.", "a@.b", "a@b..c", "@b", "a@", "a", "Name <a@b>",
        "Name<a@b>", "<a@b>",
              "<a@b", "a@b>", "\"a b\"@c", "\"\"@c", "\"a\\\"b\"@c", "a b@c", "a@b c", "a@b (comment)", "a@b (open", "(c) a@b",
        "a@b(c)(d)",
              "a@b <c@d>", "\"N\" <a@b>", "N.O <a@b>", "N, O <a@b>", "Group: a@b;", "Group:;", "Group: a@b, c@d;", "Group: N <a@b>;",
        " a@b", "a@b ",
              "\ta@b", "a @b", "a@ b", "a@[1.2.3.4]", "a@[1.2.3]", "a@[IPv6:fd00::1]", "a@[IPv6:1.2.3.4]", "a@[fd00::1]", "a@[1.2.3.4",
              "a@[::ffff:1.2.3.4]", "ä@ö", "a@b\n", "a\n@b", "a@b,", "a,b@c", "=?utf-8?q?x?= <a@b>", "=?bad?q?x?= <a@b>",
        "=?utf-8?b?eA==?= <a@b>",
              "a;b@c", "a:b@c", "a\\b@c", "mailto:a@b", "a@b;", "x (y <a@b>", "x (y) z <a@b>", "<<a@b>>", "a@b@c", "\"a@b\"@c",
        "\"a", "\"\t\"@b",
              "Group: G: a@b;;", "Group: a@b; (c)", "Group: a@b; (c", "=?utf-8?q?=x?= <a@b>", "=?iso-8859-1?q?=E4?= <a@b>",
        "=?us-ascii?q?a_b?= <a@b>",
              "a@b (=?bad?q?x?=)", "a@b (=?utf-8?q?x?=)", "N (c <a@b>", "N (=?bad?q?x?=) <a@b>", "a@b.c-d_e",
        "a!#$%&'*+-/=?^_`{|}~@b", "[a]@b",
              "=?koi8-r?q?x?= =?utf-8?q?x?= <a@b>", "N =?bad?q?x?= <a@b>"),
    "hexcolor": ("#fff", "fff", "#FFFFFF", "ffffff", "#ffff", "#ggg", "##fff", "#fff\n", "#12345"),
    "hostname": ("localhost", "example.com", "example.com.", "a", "1", "1.2.3.4", "-a.com", "a-.com", "a--b.com", "a_b.com",
        "_a.com", "a.b", "a.1",
                 "a.bc", "ex ample.com", "☃.com", "ä.de", "a.ä", "a.ää", "a.c0m", "x" * 63, "x" * 64, "x" * 65, "x" * 63 + ".com",
        "x" * 64 + ".com",
                 "a.b.c.d.ef", ".com", "a..com", "", "com", "a.com-", "a-b", "a-b-c", "a-", "ab-c", "$", "a$b.com",
        "é" * 32, ".".join(["abcdefgh"] * 28),
                 ".".join(["abcdefgh"] * 29), "a.xn--p1ai", "日本", "日本.jp", "a+b", "a.b+c", "a\n", "A.B.COM", "9a.com", "a.9com",
        "a." + "b" * 64),
    "ipv4": ("1.2.3.4", "01.02.03.04", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.0004", "::ffff:1.2.3.4", "::1.2.3.4", "1.2.3.4/8",
        " 1.2.3.4",
             "1.2.3.٤", "0x1.2.3.4", "1..3.4", "1.2.3.", "000.000.000.000", "1.2.3.99999999999999999999", "fd00::01.2.3.4", "+1.2.3.4"),
    "ipv6": ("::", "::1", "fd00::1", "FD00::1", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1::2::3", "fe80::1%eth0", "::ffff:1.2.3.4",
        "::ffff:01.2.3.4",
             "12345::", ":1", "1:", "[::1]", "::1/64", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:8::", "::00001", "1:2:3:4:5:6:1.2.3.4",
        ":::", "::1.2.3",
             "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4"),
    "isbn": ("0321751043", "0-321-75104-3", "978-0321751041", "9780321751041", "9780321751042", "0321751044", "080442957X",
        "080442957x",
             "978 0 321 75104 1", "97803217510419", "0321751043 ", "X321751043", "--0321751043--", "0000000000", "0000000000000",
        "0321\t751043"),
    "k8s-long-name": ("a.b", "a..b", "a.B", "a" * 253, "a" * 254, ".a", "a.", "a-.b", "a.-b", "a.b-c.d", "a" * 64 + ".b"),
    "k8s-short-name": ("a", "a-b", "-a", "a-", "A", "a.b", "a" * 63, "a" * 64, "1", "a_b", ""),
    "mac": ("01:23:45:67:89:ab", "01-23-45-67-89-AB", "0123.4567.89ab", "01:23:45:67:89:ab:cd:ef", "01:23:45:67:89",
        "01:23:45-67:89:ab",
            "0123.4567.89ab.cdef", "01:23:45:67:89:ag", "0:1:2:3:4:5", "0123456789ab", "01:23:45:67:89:ab:cd", "0123:4567:89ab",
            ":".join(["00"] * 20), "-".join(["00"] * 20), ".".join(["0000"] * 10), ":".join(["00"] * 21), "01:23:45:67:89:ab ",
        "0123.4567-89ab",
            "01.23.45.67.89.ab", "12.34.56.78.9a.bc", "0123.4567.89abc"),
    "password": ("secret", "", "\u0000"),
    "quantity": ("1Gi", "x", "1.5e3", "-1", "", "1 Gi", "1gi"),
    "rgbcolor": ("rgb(1,2,3)", "rgb( 1 , 2 , 3 )", "rgb(256,0,0)", "rgb(255,255,255)", "rgb(01,2,3)", "rgb(1,2)", "rgba(1,2,3)",
        "RGB(1,2,3)",
                 "rgb(100,99,200)", "rgb (1,2,3)", "rgb(\n1,2,3)", "rgb(190,249,250)", "rgb(0,0,0)", "rgb(00,0,0)", "rgb(1.0,2,3)",
        "rgb(99,999,9)"),
    "ssn": ("123-45-6789", "123 45 6789", "123456789", "123-456789", "000-00-0000", "123-45-678", "123 45-6789", "123-45-6789 ",
        "١٢٣-45-6789"),
    "uri": ("http://a", "http://a/b?c#d", "/a", "//a", "a", "a:b", "mailto:a@b", "", "*", "http://", "http:/a", "http:", ":a",
        "1a:b", "a+b.c-d:e",
            "http://a b", "http://a/b c", "http://a:80", "http://a:x", "http://a:80:90", "ftp://a:80:90", "http://[::1]",
        "http://[::1]:80",
            "http://[::1]x", "http://[1.2.3.4]", "http://[::1", "http://a[::1]", "http://[fe80::1%25eth0]", "http://[fe80::1%eth0]",
            "http://u:p@a", "http://u p@a", "http://u@p@a", "http://%41", "http://%e4", "/%zz", "/%4", "/a?%zz", "http://a#%zz",
        "/a#%zz", "?a", "#a",
            "http://a\n", "\\a", "/ä", "http://ä", "http://a\"b", "http://a<b>", "http://a|b", "http://a^b", "http://a{b}",
        "http://a\\b", "http://a`b",
            "http://:80", "http://a:", "http:///a", "///a", "urn:x:y", "http://[::ffff:1.2.3.4]", "http://[fe80::1%25%20]",
        "http://[]", "http://a]b",
            "HTTP://A", "ä://a", "a/b:c", "http://u:%zz@a", "http://[x]", "http://[::1%2541]", "http://[fe80::1%25]", "http://a%20b",
        "https://a::1",
            "x://a::1", "http://::1", "http://a;b,c", "http://u|v@a", "http://a?b?c", "http://a/%"),
    "uuid": (_UUID % ("1234", "89ab"), (_UUID % ("1234", "89ab")).replace("-", ""), (_UUID % ("1234", "89ab")).upper(),
        "{" + _UUID % ("1234", "89ab") + "}",
             "0123abcd89ab-1234-89ab0123456789ab", "urn:uuid:" + _UUID % ("1234", "89ab"), "0123abcg-89ab-1234-89ab-0123456789ab"),
    "uuid3": (_UUID % ("3234", "09ab"), _UUID % ("3234", "89ab")),
    "uuid4": (_UUID % ("4234", "09ab"), _UUID % ("4234", "89ab"), _UUID % ("4234", "Bcde")),
    "uuid5": (_UUID % ("5234", "c9ab"), _UUID % ("5234", "A9ab"), _UUID % ("6234", "a9ab")),
}  # fmt: skip
"""Some good, some bad."""
COUSINS = {
    "isbn10": "isbn",
    "isbn13": "isbn",
    "da-te": "date",
    "datetime": "date-time",
    "k8s-shortname": "k8s-short-name",
    "UUID": "uuid",
    "int32": "ssn",
    "x-made-up": "date",
}
"""Formats that are asked for another's examples. A dash more or less makes no other format; some are none of a text."""
FORMS = (*EXAMPLES, *COUSINS)
OF_NUMBERS = ("", "int32", "int64", "float", "double", "date", "x-made-up")
OF_RULES: Mapping[str, tuple[str, str]] = {
    "byte": ("string(self) == ''", "string(size(self))"),
    "date": ("int(self) == 1", "string(int(self))"),
    "date-time": ("int(self) == 1", "string(int(self))"),
    "datetime": ("self == ''", "self"),
    "duration": ("self.getSeconds() == -1", "string(self.getSeconds())"),
}
"""Formats that a rule does not see as texts (but one): a rule and its message, which tells what it saw instead. How a time and a span
are printed is not asked: cel-go keeps a time's zone and writes `0.5s`, the library of ours knows no zones and writes `0.500s`."""
OTHER_TYPES = ("integer", "number", "boolean", "object", "array")
INTEGERS = (0, -1, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**53, 2**63 - 1, 2**63, -(2**63))
NUMBERS = (*INTEGERS, 0.5, 1.0, 1e300, 3.4e38, 3.5e38, -0.0, 1e-320)
STRANGE = ' \t\n\u00a0.-:/@%<>()[]"\\,;_#0x9Zé☃٣\u0000'


def _changed(text: str, random: Random) -> str:
    """The text with one or two things wrong with it."""
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(text) + 1)
        head, tail = text[:place], text[place:]
        text = random.choice(
            (
                head + random.choice(STRANGE) + tail,
                head + tail[1:],
                head + tail[:1] + tail,
                head + random.choice(STRANGE) + tail[1:],
                head + tail.swapcase(),
                tail + head,
                random.choice(STRANGE) + text,
                text + random.choice(STRANGE),
            )
        )
    return text


def texts(form: str) -> list[str]:
    """What a format is asked for, the same each time."""
    random = Random(f"{SEED} {form}")
    all_of_them = [text for examples in EXAMPLES.values() for text in examples]
    own = EXAMPLES[COUSINS.get(form, form)]
    changed = [_changed(random.choice(own), random) for _ in range(CHANGED)]
    return list(dict.fromkeys((*own, *changed, *all_of_them)))


def _list_of(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


def _key(form: str) -> str:
    return form.replace("-", "_") or "plain"


def _schema() -> dict[str, Any]:
    lists = {_key(form): _list_of({"type": "string", "format": form}) for form in FORMS}
    for type_ in ("integer", "number"):
        lists |= {f"{type_}_{_key(form)}": _list_of({"type": type_, "format": form}) for form in OF_NUMBERS}
    for form, (rule, shown) in OF_RULES.items():
        rules = [{"rule": rule, "messageExpression": shown}]
        item = {"type": "string", "format": form, "maxLength": 90, "x-kubernetes-validations": rules}
        lists[f"rule_{_key(form)}"] = {**_list_of(item), "maxItems": AT_ONCE}
    return {"type": "object", "properties": lists}


FORMED = definition("formeds", "Formed", _schema())
PATH = f"/apis/{GROUP}/v1/namespaces/{{ns}}/formeds?dryRun=All"


def _asked(**lists: Any) -> Step:
    return Step("POST", PATH, {"apiVersion": f"{GROUP}/v1", "kind": "Formed", "metadata": {"name": "f"}, **lists})


def cases() -> Iterator[Case]:
    """One for each format, which asks for its texts some at a time; numbers; and definitions that the server warns of."""
    for form in FORMS:
        asked = texts(form)
        steps = [_asked(**{_key(form): asked[start : start + AT_ONCE]}) for start in range(0, len(asked), AT_ONCE)]
        yield Case(tuple(steps), name=form)
    for form in OF_RULES:
        good = [text for text in texts(form) if len(text) <= 90 and is_of_format(text, form)]  # else no rule is asked
        asked = [text for text in good if not text.startswith("0000")]  # a year that the library of ours does not know
        steps = [
            _asked(**{f"rule_{_key(form)}": asked[start : start + AT_ONCE]}) for start in range(0, len(asked), AT_ONCE)
        ]
        yield Case(tuple(steps), name=f"{form} in a rule")
    for type_ in ("integer", "number"):
        names = [f"{type_}_{_key(form)}" for form in OF_NUMBERS]
        yield Case(tuple(_asked(**{name: list(NUMBERS)}) for name in names), name=f"{type_}s")
    yield Case(tuple(_defined("string", form) for form in FORMS), name="definitions of texts")
    yield Case(
        tuple(_defined(type_, form) for type_ in OTHER_TYPES for form in OF_NUMBERS[1:]), name="definitions of others"
    )


def _defined(type_: str, form: str) -> Step:
    """A definition with one format: of several unknown ones the server warns in any order."""
    shape = {"type": type_, "format": form, **({"items": {"type": "string"}} if type_ == "array" else {})}
    body = definition("others", "Other", {"type": "object", "properties": {"it": shape}})
    return Step("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All", body)
