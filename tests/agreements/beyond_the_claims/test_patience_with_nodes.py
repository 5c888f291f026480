"""Who is given five minutes of patience with a node that does not answer: whoever has not said a word about it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.default_toleration_seconds import DefaultTolerationSeconds

NOT_READY, UNREACHABLE = (f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable"))


def given(key: str) -> dict[str, Any]:
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


BOTH = [NOT_READY, UNREACHABLE]
SAID: list[tuple[list[dict[str, Any]] | None, list[str]]] = [
    (None, BOTH),
    ([], BOTH),
    ([{"key": "other", "operator": "Exists"}], BOTH),
    ([{"key": NOT_READY, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 7}], [UNREACHABLE]),
    ([{"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute"}], [NOT_READY]),
    ([{"key": NOT_READY, "operator": "Exists"}], [UNREACHABLE]),
    ([{"key": NOT_READY, "effect": ""}], [UNREACHABLE]),
    ([{"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule"}], BOTH),
    ([{"key": UNREACHABLE, "operator": "Exists", "effect": "PreferNoSchedule"}], BOTH),
    ([{"operator": "Exists"}], []),
    ([{"key": "", "operator": "Exists", "effect": "NoExecute"}], []),
    ([{"operator": "Exists", "effect": "NoSchedule"}], BOTH),
    ([{"key": NOT_READY, "operator": "Equal", "value": "x", "effect": "NoExecute"}], [UNREACHABLE]),
    ([given(NOT_READY), given(UNREACHABLE)], []),
    ([{"key": NOT_READY, "effect": "NoSchedule"}, {"key": UNREACHABLE}, {"key": NOT_READY}], []),
]


@pytest.mark.parametrize("operation", [CREATE, UPDATE])
@pytest.mark.parametrize(("said", "added"), SAID)
def test_what_a_pod_says_stays_and_what_is_missing_comes_after_it(
    said: list[dict[str, Any]] | None, added: list[str], operation: str
) -> None:
    """Upstream: `defaulttolerationseconds/admission.go` (`Admit`)."""
    pod: dict[str, Any] = {"spec": {} if said is None else {"tolerations": said}}
    before = [*(said or [])]
    plugin = DefaultTolerationSeconds()
    plugin.admit(Attributes(operation, resource("pods"), "", "shop", "p", pod))
    assert (pod["spec"].get("tolerations") or []) == [*before, *map(given, added)]


@pytest.mark.parametrize(
    ("name", "subresource", "operation", "handled"),
    [
        ("pods", "", CREATE, True),
        ("pods", "", UPDATE, True),
        ("pods", "", "DELETE", False),
        ("pods", "status", UPDATE, False),
        ("nodes", "", CREATE, False),
    ],
)
def test_it_is_asked_about_pods_alone(name: str, subresource: str, operation: str, handled: bool) -> None:
    assert DefaultTolerationSeconds().handles(resource(name), subresource, operation) is handled
