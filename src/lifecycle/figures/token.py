"""A service account token as a picture: each of its fields, and what the server holds
it against.

The first three can be checked with what every API server has at hand. The others are
references to objects, by uid: for them the server looks at its cache.
"""

from __future__ import annotations

from matplotlib.figure import Figure

from lifecycle.api.http.wire import Object
from lifecycle.figures.columns import Box, draw_columns

AT_HAND, REFERENCE = "#3d6fa8", "#2a7f62"
KINDS = {"serviceaccount": "ServiceAccount", "pod": "Pod", "secret": "Secret"}
"""What a token may be bound to. A node in the token of a pod is only information."""
SHOWN = 8
"""Letters of a uid."""


def draw_token(fields: Object, *, width: float = 7.0) -> Figure:
    """`fields` is the middle part of the token, decoded."""
    private = fields["kubernetes.io"]
    pairs = [
        (
            Box("signature", ("by the issuer",), AT_HAND),
            Box("the server's public keys", (), AT_HAND),
        ),
        (
            Box("aud", (_first(fields["aud"]),), AT_HAND),
            Box("the server's own audiences", (), AT_HAND),
        ),
        (
            Box("exp", (f"{fields['exp'] - fields['iat']} s after iat",), AT_HAND),
            Box("the clock", (), AT_HAND),
        ),
    ]
    pairs += [
        (
            Box(key, (private[key]["name"], _uid(private[key])), REFERENCE),
            Box(f"the {kind} of that name", ("has it this uid?",), REFERENCE),
        )
        for key, kind in KINDS.items()
        if key in private
    ]
    return draw_columns(
        ("the token says", "is held against"),
        ([said for said, _ in pairs], [against for _, against in pairs]),
        pairs,
        width=width,
    )


def _first(audiences: list[str]) -> str:
    return audiences[0] + (", …" if len(audiences) > 1 else "")


def _uid(reference: Object) -> str:
    return f"uid {reference['uid'][:SHOWN]}…"
