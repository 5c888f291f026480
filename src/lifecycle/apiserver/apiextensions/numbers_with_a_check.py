"""Numbers of books and of cards, whose last digit follows from the others.

Upstream: `kube-openapi/pkg/internal/third_party/govalidator/{patterns,validator}.go`
(`IsISBN`, `IsCreditCard`), v1.36.
"""

from __future__ import annotations

import re

_BETWEEN_DIGITS = re.compile(r"[\t\n\f\r -]+")
_NO_DIGITS = re.compile("[^0-9]+")
_ISBN = {10: re.compile("[0-9]{9}[0-9X]"), 13: re.compile("[0-9]{13}")}
_CARD = re.compile(
    "4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}"
    "|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    "|(?:2131|1800|35[0-9]{3})[0-9]{11}"
)


def is_isbn(text: str, length: int) -> bool:
    """The number of a book, of ten or thirteen digits, with spaces and dashes."""
    digits = _BETWEEN_DIGITS.sub("", text)
    if _ISBN[length].fullmatch(digits) is None:
        return False
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if length == 10:
        return sum(place * value for place, value in enumerate(values, 1)) % 11 == 0
    weighted = [value * (3 if place % 2 else 1) for place, value in enumerate(values)]
    return sum(weighted) % 10 == 0


def is_card(text: str) -> bool:
    """The number of a card: whatever is no digit does not count."""
    digits = _NO_DIGITS.sub("", text)
    if _CARD.fullmatch(digits) is None:
        return False
    doubled = [
        sum(divmod(2 * int(digit), 10)) if place % 2 else int(digit)
        for place, digit in enumerate(reversed(digits))
    ]
    return sum(doubled) % 10 == 0
