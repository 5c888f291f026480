"""Where uids and generated names come from.

A seeded source gives the same cluster the same names twice, which is what lets a
chapter print them.

Upstream: `apimachinery/pkg/util/rand/rand.go` (`String`, `SafeEncodeString`),
`apiserver/pkg/storage/names/generate.go` (`SimpleNameGenerator`), v1.36.
"""

from __future__ import annotations

import random

ALPHANUMS = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels (no bad words), no 0, 1 or 3 (no look-alikes)."""

MAX_NAME_LENGTH = 63
RANDOM_LENGTH = 5


class NameSource:
    """Uids and random suffixes; with a seed, the same ones every time."""

    def __init__(self, seed: int | None = None) -> None:
        self.random = random.Random(seed)

    def uid(self) -> str:
        """A version-4 UUID."""
        bits = self.random.getrandbits(128)
        bits = (bits & ~(0xF << 76)) | (0x4 << 76)
        bits = (bits & ~(0x3 << 62)) | (0x2 << 62)
        text = f"{bits:032x}"
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def suffix(self, length: int = RANDOM_LENGTH) -> str:
        """Random letters of the safe alphabet."""
        return "".join(self.random.choices(ALPHANUMS, k=length))

    def generate_name(self, base: str) -> str:
        """`generateName` made into a name: the base, cut to fit, and five random
        letters.
        """
        return base[: MAX_NAME_LENGTH - RANDOM_LENGTH] + self.suffix()


def safe_encode_string(text: str) -> str:
    """Each character mapped onto the safe alphabet (the last step of
    pod-template-hash).
    """
    return "".join(ALPHANUMS[ord(c) % len(ALPHANUMS)] for c in text)
