"""What might go wrong just where something changes: rights of nodes, values on both sides of a bound, scores, who somebody says that
one is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lifecycle.agreements.apiserver.answering import answering_agreement
from lifecycle.agreements.apiserver.bounded import bounded_agreement
from lifecycle.agreements.apiserver.entitled import entitled_agreement
from lifecycle.agreements.apiserver.introduced import introduced_agreement
from lifecycle.agreements.apiserver.weighed import work_estimate_agreement
from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.scheduler.scored import scored_agreement
from lifecycle.apiserver.authz.authorizer import ALLOW
from tests.agreements.sabotages.judged import Answers, Judged, Sabotage, called, listed
from tests.claims.broken.breakage import afterwards, constant


def scores_of(plugin: str) -> Iterator[str]:
    """Patterns of the cases in which a plugin tells nodes apart."""
    for each in asked(None, "scored"):
        if len({*each.answer["scores"].get(plugin, {}).values()}) > 1:
            yield rf"\| {each.question.partition('/')[2]}$"


def taken_for_another(answer: dict[str, Any]) -> dict[str, Any]:
    """Somebody else, or believed once more."""
    if "codes" in answer:
        return {"codes": [*answer["codes"], 0]}
    return {"known": {**answer["known"], "spoilt": True}}


JUDGED = (
    Judged(
        "entitled_agreement",
        entitled_agreement,
        sabotages=(
            Sabotage(
                "whatever there is belongs to a pod of the node",
                "apiserver.authz.node.NodeAuthorizer._related",
                constant(ALLOW),
                (
                    r"a node \| (secrets|configmaps|serviceaccounts|pods|volumeattachments)$",
                    r"a node \| (persistentvolume|resource)",
                ),
                because="one function asks for all kinds of objects that pods refer to",
            ),
        ),
        answers=(
            Answers(
                "who may do what",
                "",
                called(
                    "agreements.apiserver.entitled.our_statuses",
                    lambda result, *_: {**result, "spoilt": {"allowed": False}},
                ),
            ),
        ),
    ),
    Judged(
        "introduced_agreement",
        introduced_agreement,
        sabotages=(
            Sabotage(
                "a token that was believed once is believed for an hour",
                "apiserver.authn.service_account.CACHE_SECONDS",
                3600.0,
                (r"is gone \|",),
                because="both tokens lose what they hang on",
            ),
        ),
        answers=(
            Answers(
                "who one is",
                "",
                listed("agreements.apiserver.introduced.our_answers", taken_for_another),
            ),
        ),
    ),
    Judged(
        "answering_agreement",
        answering_agreement,
        answers=(
            Answers(
                "what is said first",
                "",
                called(
                    "agreements.apiserver.answering.our_word", lambda word, *_: {**word, "reason": "Spoilt"}, once=True
                ),
            ),
        ),
    ),
    Judged(
        "bounded_agreement",
        bounded_agreement,
        answers=(
            Answers(
                "what is taken",
                "",
                listed(
                    "agreements.apiserver.bounded.our_answers",
                    lambda answers: [{**answers[0], "spoilt": True}, *answers[1:]],
                ),
            ),
        ),
    ),
    Judged(
        "work_estimate_agreement",
        work_estimate_agreement,
        answers=(
            Answers(
                "how many seats",
                "",
                called("agreements.apiserver.weighed.our_seats", lambda seats, *_: seats + 1),
            ),
        ),
    ),
    Judged(
        "scored_agreement",
        scored_agreement,
        sabotages=(
            Sabotage(
                "images are worth nothing",
                "scheduler.framework.plugins.image_locality.score_of",
                constant(0),
                tuple(scores_of("ImageLocality")),
                because="in each of these cases a node has more of what the pod wants",
            ),
            Sabotage(
                "one soft taint more or less is all the same",
                "scheduler.framework.plugins.taint_toleration.TaintToleration.score",
                afterwards(lambda score, *_: min(score, 1)),
                (r"\| soft taints(, (a key|of this|of another|another).*)?$",),
                because="in each of these cases a node has several that are not tolerated",
            ),
        ),
        answers=(
            Answers(
                "where it goes, and why",
                "",
                called(
                    "agreements.scheduler.scored.our_decision",
                    lambda found, *_: {**found, "best": ["spoilt"]},
                    once=True,
                ),
            ),
        ),
    ),
)
