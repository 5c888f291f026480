"""The admission table: agreement with 1.36.2 but for what is not built; each plugin left out is missed."""

from __future__ import annotations

import pytest

from lifecycle.agreements.apiserver.admission import added, admission_agreement, moment
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.inspector import open_recording

NOT_BUILT: set[str] = set()


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_object_and_refusal_is_the_recorded_one(name: str) -> None:
    table = admission_agreement(open_recording(name))
    assert table.unexplained == []
    assert {known.id for known in table.known} == NOT_BUILT
    assert [len([row for row in table.rows if not row.equal]), len(table.rows)] == [0, 137]


@pytest.mark.parametrize(
    ("plugin", "row"),
    [
        ("NamespaceLifecycle", "NamespaceLifecycle: immortal namespace"),
        ("LimitRanger", "LimitRanger max"),
        ("ResourceQuota", "quota exceeded"),
        ("PodSecurity", "PodSecurity privileged"),
        ("Priority", "Priority missing class"),
        ("DefaultTolerationSeconds", "Priority"),
        ("ServiceAccount", "ServiceAccount missing"),
        ("NodeRestriction", "NodeRestriction"),
        ("DefaultStorageClass", "DefaultStorageClass"),
    ],
)
def test_a_plugin_that_is_missing_is_missed(plugin: str, row: str) -> None:
    table = admission_agreement(open_recording(), without=[plugin], scenarios=["admission"])
    assert row in {different.stage.partition(": ")[2] for different in table.rows if different.unexplained}


class OneRegistry(Plugin):
    """Images come from one registry."""

    name = "OneRegistry"
    resources = PODS

    def validate(self, attributes: Attributes) -> None:
        raise attributes.forbidden("no")


def test_a_plugin_of_ones_own_takes_part_and_an_unknown_name_is_refused() -> None:
    table = admission_agreement(open_recording(), more=[OneRegistry()], scenarios=["admission"])
    assert len(table.unexplained) > 100
    with pytest.raises(ValueError, match=r"no such plugin: LimitRange$"):
        admission_agreement(open_recording(), without=["LimitRange"], scenarios=["admission"])


def test_what_admission_added_is_told_by_path() -> None:
    assert list(added({"a": [{"b": 1}], "c": 2}, {"a": [{"b": 1, "d": 4}, 5], "c": 3})) == [
        ("a[0].d", 4), ("a[1]", 5), ("c", 3),
    ]  # fmt: skip
    posted, answered = moment(open_recording(), "LimitRanger defaults")
    assert dict(added(posted, answered))["spec.containers[0].resources"] == {
        "limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "100m", "memory": "64Mi"},
    }  # fmt: skip
