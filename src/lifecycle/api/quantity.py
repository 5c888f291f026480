"""`resource.Quantity`: how much CPU, memory or storage, exactly.

`100m`, `1.5Gi`, `12e6`: a decimal number and a suffix that says which of three
notations the author chose. A quantity is never a float; it is an integer times a power
of ten, and it is written back in the notation it came in, in canonical form: no
fraction, the largest suffix that loses nothing. That is why `1024Mi` asked for comes
back as `1Gi`, `0.5` as `500m`, and why `1.5` and `1500m` are equal.

Three oddities are upstream's and kept, because clients see them: a number that is
"canonical enough" keeps its text (`+5`, `007Mi`, `1.500`), whatever is missing reads as
zero (`+`, `k` and `.` are all 0), and whoever wants a whole number gets one of 64 bits,
however large the amount (`value`).

Upstream: `apimachinery/pkg/api/resource/quantity.go` (`ParseQuantity`,
`CanonicalizeBytes`, `ScaledValue`), `suffix.go`, `amount.go`, `math.go`, v1.36.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

from lifecycle.api.bounded_cache import short_lru_cache


class Format(Enum):
    """The three notations. Upstream: `resource.Format`."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


DECIMAL_EXPONENTS = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
"""What each suffix stands for, as a power of ten and of two."""
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES = {
    exponent: suffix for suffix, exponent in BINARY_EXPONENTS.items()
} | {0: ""}

FORMAT_WRONG = (
    "quantities must match the regular expression"
    " '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
SUFFIX_WRONG = "unable to parse quantity's suffix"

_SCANNER = re.compile(
    r"(?P<sign>[+-]?)0*(?P<num>[0-9]*)(?:\.(?P<denom>[0-9]*))?(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)",
    re.ASCII,
)
_FAST_DIGITS = 18
_NANO = -9
_MAX_INT64 = 2**63 - 1
_HUGE = 1000
"""Nobody needs `1e2000000000` written out: beyond 10^1000 amounts are as good as
10^1000 of them.
"""


class Quantity:
    """`mantissa` × 10^`exponent`, and the notation it is written in. Immutable; equal
    when the amounts are.

    `text` is the author's own spelling where that already counts as canonical, else
    empty until `str()` is first asked for.
    """

    __slots__ = ("_text", "exponent", "format", "mantissa")

    def __init__(
        self,
        mantissa: int,
        exponent: int = 0,
        format: Format = Format.DECIMAL_SI,
        text: str = "",
    ) -> None:
        self.mantissa = mantissa
        self.exponent = exponent
        self.format = format
        self._text = text

    def scaled(self, scale: int) -> int:
        """How many 10^`scale` this is, rounded away from zero, as an int64: of what is
        too large for it, an amount of many digits leaves its lowest 64 bits, and one of
        few, which upstream keeps as an int64 and a scale, nothing. Upstream:
        `ScaledValue`.
        """
        amount = self.exact(scale)
        if -_MAX_INT64 - 1 <= amount <= _MAX_INT64:
            return amount
        few = abs(self.mantissa) < 10**_FAST_DIGITS
        if few and self.format is not Format.BINARY_SI:
            return 0
        if amount > 0:
            return _low_64_bits(amount)
        # upstream has billionths, takes them for few, and divides what is left of them
        billionths, unit = -_low_64_bits(-self.exact(_NANO)), 10 ** (scale - _NANO)
        towards_zero = abs(billionths) // unit * (1 if billionths > 0 else -1)
        return towards_zero + (1 if billionths % unit else 0)

    def exact(self, scale: int) -> int:
        """How many 10^`scale` this is, rounded away from zero, of any size."""
        shift = self.exponent - scale
        if shift < 0:
            return _divide_away_from_zero(self.mantissa, -shift)
        return self.mantissa * 10 ** min(shift, _HUGE)

    def value(self) -> int:
        """Whole units, rounded away from zero. Upstream: `Value`."""
        return self.scaled(0)

    def milli(self) -> int:
        """Thousandths, rounded away from zero. Upstream: `MilliValue`."""
        return self.scaled(-3)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is asked for."""
        return self.mantissa == 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    def is_integer(self) -> bool:
        """Whether the amount is a whole number of units."""
        return self.exponent >= 0 or not self.mantissa % 10**-self.exponent

    def __float__(self) -> float:
        return float(f"{self.mantissa}e{self.exponent}")

    def __add__(self, other: Quantity) -> Quantity:
        return self._sum(other, 1)

    def __sub__(self, other: Quantity) -> Quantity:
        return self._sum(other, -1)

    def __neg__(self) -> Quantity:
        return Quantity(-self.mantissa, self.exponent, self.format)

    def __mul__(self, factor: int) -> Quantity:
        return Quantity(self.mantissa * factor, self.exponent, self.format)

    def _sum(self, other: Quantity, sign: int) -> Quantity:
        """Zero has no notation of its own: the sum takes the other one's."""
        format = self.format if self.mantissa else other.format
        if (
            self.mantissa
            and other.mantissa
            and abs(self.exponent - other.exponent) > _HUGE
        ):
            return (
                self
                if self.exponent > other.exponent
                else (other if sign > 0 else -other)
            )
        if not self.mantissa or not other.mantissa:
            amount = self if self.mantissa else other
            return Quantity(
                amount.mantissa * (1 if amount is self else sign),
                amount.exponent,
                format,
            )
        lowest = min(self.exponent, other.exponent)
        mine = self.mantissa * 10 ** (self.exponent - lowest)
        return Quantity(
            mine + sign * other.mantissa * 10 ** (other.exponent - lowest),
            lowest,
            format,
        )

    def _compare(self, other: Quantity) -> int:
        """Negative, zero or positive. Upstream: `Cmp`."""
        difference = self.exponent - other.exponent
        if difference == 0:
            return self.mantissa - other.mantissa
        if self.sign != other.sign:
            return self.sign - other.sign
        mine, theirs = _magnitude(self), _magnitude(other)
        if mine != theirs:  # spares us from writing out 1e1000000
            return self.sign * (mine - theirs)
        if difference > 0:
            return self.mantissa * 10**difference - other.mantissa
        return self.mantissa - other.mantissa * int(10**-difference)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self._compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self._compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self._compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self._compare(other) >= 0

    def __hash__(self) -> int:
        return hash(_without_factors(self.mantissa, self.exponent, 10))

    def __str__(self) -> str:
        if not self._text:
            self._text = self.canonical()
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def canonical(self) -> str:
        """The canonical spelling. Upstream: `CanonicalizeBytes`."""
        if not self.mantissa:
            return "0"
        if self.format is Format.BINARY_SI:
            whole = self.exact(0)
            # Between -1024 and 1024, or with a fraction, a binary suffix would lose
            # something: decimal then.
            if not -1024 < whole < 1024 and self.is_integer():
                mantissa, times = _without_factors(whole, 0, 1024)
                return f"{mantissa}{_BINARY_SUFFIXES.get(times * 10, '')}"
        mantissa, exponent = _without_factors(self.mantissa, self.exponent, 10)
        mantissa *= 10 ** (exponent % 3)
        exponent -= exponent % 3
        if self.format is Format.DECIMAL_EXPONENT:
            return f"{mantissa}e{exponent}" if exponent else str(mantissa)
        # Beyond E or below n there is no suffix, and upstream writes none.
        return f"{mantissa}{_DECIMAL_SUFFIXES.get(exponent, '')}"


def _low_64_bits(amount: int) -> int:
    """As a signed number."""
    return (amount + _MAX_INT64 + 1) % 2**64 - _MAX_INT64 - 1


def _magnitude(quantity: Quantity) -> int:
    return (
        len(str(abs(quantity.mantissa))) + quantity.exponent if quantity.mantissa else 0
    )


def _without_factors(mantissa: int, exponent: int, base: int) -> tuple[int, int]:
    """Factors of `base` moved from the mantissa to the exponent."""
    if not mantissa:
        return 0, 0
    quotient, remainder = divmod(mantissa, base)
    while not remainder:
        mantissa, exponent = quotient, exponent + 1
        quotient, remainder = divmod(mantissa, base)
    return mantissa, exponent


def _divide_away_from_zero(mantissa: int, digits: int) -> int:
    """`mantissa` / 10^`digits`, any rest rounded away from zero."""
    if not mantissa:
        return 0
    if digits > len(str(mantissa)):
        return 1 if mantissa > 0 else -1
    return -(-mantissa // 10**digits) if mantissa > 0 else mantissa // 10**digits


def parse_quantity(text: str | int | float) -> Quantity:
    """A quantity from its text, or from a JSON number. Raises ValueError with
    upstream's message.

    Surrounding white space is forgiven, as upstream's JSON decoding does. Results are
    cached and shared.
    """
    if not isinstance(text, str):
        text = str(text)
    return _parse(text.strip())


def canonical_quantity(text: Any) -> str:
    """The spelling a server answers with for a quantity it was sent. Raises ValueError
    like `parse_quantity`.
    """
    return str(parse_quantity(text))


@short_lru_cache(8192)
def _parse(text: str) -> Quantity:
    match = _SCANNER.fullmatch(text) if text else None
    if match is None:
        raise ValueError(FORMAT_WRONG)
    negative = match["sign"] == "-"
    num, denom, suffix = match["num"] or "0", match["denom"] or "", match["suffix"]
    exponent, format = _interpret(suffix)

    digits = num + denom
    mantissa = int(digits)
    if format is Format.BINARY_SI:
        return _binary(text, mantissa, len(denom), exponent, negative)

    scale = exponent - len(denom)
    signed = -mantissa if negative else mantissa
    if len(digits) <= _FAST_DIGITS and scale >= _NANO:
        as_written = scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        return Quantity(signed, scale, format, text if as_written else "")
    if scale < _NANO:  # a wish below a billionth becomes one billionth
        return Quantity(_divide_away_from_zero(signed, _NANO - scale), _NANO, format)
    return Quantity(signed, scale, format)


def _binary(
    text: str, mantissa: int, places: int, exponent: int, negative: bool
) -> Quantity:
    """A binary quantity: capped at the largest int64, and shown in decimal notation if
    less than one.
    """
    amount = mantissa << exponent
    if not places:
        as_written = bool(mantissa & 7) and _fits_fast_path(mantissa, exponent)
        amount = min(amount, _MAX_INT64)
        return Quantity(
            -amount if negative else amount,
            0,
            Format.BINARY_SI,
            text if as_written else "",
        )
    if places > -_NANO:
        amount, places = _divide_away_from_zero(amount, places + _NANO), -_NANO
    if amount > _MAX_INT64 * 10**places:
        amount, places = _MAX_INT64, 0
    format = Format.DECIMAL_SI if 0 < amount < 10**places else Format.BINARY_SI
    return Quantity(-amount if negative else amount, -places, format)


def _fits_fast_path(mantissa: int, exponent: int) -> bool:
    """Whether upstream parses it without big numbers, and so remembers the text."""
    return (
        15 - len(str(mantissa)) - exponent * 3 // 10 - 1 >= 0
        and mantissa << exponent <= _MAX_INT64
    )


@short_lru_cache(256)
def _interpret(suffix: str) -> tuple[int, Format]:
    """Exponent (of ten or two) and notation of a suffix."""
    if suffix in DECIMAL_EXPONENTS:
        return DECIMAL_EXPONENTS[suffix], Format.DECIMAL_SI
    if suffix in BINARY_EXPONENTS:
        return BINARY_EXPONENTS[suffix], Format.BINARY_SI
    if suffix[0] in "eE":
        digits = suffix[1:]
        if digits.lstrip("+-").isdigit() and -(2**63) <= int(digits) <= _MAX_INT64:
            wrapped = (
                int(digits) + 2**31
            ) % 2**32 - 2**31  # upstream narrows it to int32
            return wrapped, Format.DECIMAL_EXPONENT
    raise ValueError(SUFFIX_WRONG)


ZERO = Quantity(0)
"""No amount at all."""
