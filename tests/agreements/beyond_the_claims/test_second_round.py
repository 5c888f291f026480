"""Who is shown an object again that another has changed."""

from __future__ import annotations

import pytest

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, AdmissionChain, Plugin
from lifecycle.apiserver.admission.reinvocation import PluginRound, Reinvocation


class _Injector(Plugin):
    """Notes that it was asked; wants a second round, or not."""

    resources = PODS

    def __init__(self, name: str, asked: list[str], again: bool) -> None:
        self.name, self._asked, self._again = name, asked, again

    def admit(self, attributes: Attributes) -> None:
        """See `Plugin`."""
        self._asked.append(self.name)
        if self._again and attributes.reinvocation is not None:
            attributes.reinvocation.should_reinvoke = True


def asked(*, again: bool, rounds: Reinvocation | None) -> list[str]:
    """Who is asked about a pod, one after the other, if the second one has changed it,
    or not.
    """
    order: list[str] = []
    plugins = [_Injector("one", order, False), _Injector("two", order, again)]
    attributes = Attributes(CREATE, resource("pods"), "", "default", "p", {})
    attributes.reinvocation = rounds
    on_a_loop(AdmissionChain(plugins).admit(attributes))
    return order


def remembered() -> list[tuple[set[str], set[str]]]:
    """Whom a plugin that had called one webhook has called in the second round, and
    whom it has to call again: if it finds the object as it left it; if another; if it has
    left none; and if there is none any more.
    """
    rounds = []
    for left, now in (({"a": 1}, {"a": 1}), ({"a": 1}, {"a": 2}), (None, {"a": 1}), ({"a": 1}, None)):
        memory = PluginRound(called={"hook"}, output=left)
        memory.begin(now)
        rounds.append((memory.called, memory.again))
    return rounds


@pytest.mark.parametrize(
    ("again", "rounds", "order"),
    [
        (True, Reinvocation(), ["one", "two", "one", "two"]),
        (False, Reinvocation(), ["one", "two"]),
        (True, Reinvocation(second=True), ["one", "two"]),
        (True, None, ["one", "two"]),
    ],
)
def test_all_are_asked_again_once_if_anybody_has_changed_what_others_have_seen(
    again: bool, rounds: Reinvocation | None, order: list[str]
) -> None:
    assert asked(again=again, rounds=rounds) == order


def test_a_plugin_calls_those_webhooks_again_that_have_not_seen_the_object_as_it_is() -> None:
    assert remembered() == [({"hook"}, set()), *[(set(), {"hook"})] * 3]


def test_whom_one_change_has_brought_back_another_does_not_send_away() -> None:
    memory = PluginRound()
    memory.called.add("first")
    memory.require()  # what was called after it has changed the object
    memory.called.add("second")
    memory.require()
    assert (memory.called, memory.again) == (set(), {"first", "second"})
    memory.require()  # nobody was called meanwhile
    assert memory.again == {"first", "second"}


def test_who_is_asked_again_knows_that_it_is_the_second_time() -> None:
    """Webhooks are called in it only if they want to be, and their patches are noted under another round."""
    seen = list[bool]()

    class Watchful(_Injector):
        def admit(self, attributes: Attributes) -> None:
            assert attributes.reinvocation is not None
            seen.append(attributes.reinvocation.second)
            super().admit(attributes)

    attributes = Attributes(CREATE, resource("pods"), "", "default", "p", {})
    attributes.reinvocation = Reinvocation()
    on_a_loop(AdmissionChain([Watchful("one", [], True)]).admit(attributes))
    assert seen == [False, True]


@pytest.mark.parametrize("size", [0, 10_000_000])
def test_what_another_changes_in_place_has_changed_as_well(size: int) -> None:
    """The object is one and the same, and built further: how it was left is a picture of it."""

    async def main() -> list[set[str]]:
        again = []
        for changed in (False, True):
            obj = {"spec": {"containers": [{"name": "a"}]}}
            memory = PluginRound(called={"hook"})
            await memory.keep(obj, size)
            if changed:
                obj["spec"]["containers"][0]["image"] = "nginx"
            memory.begin(obj)
            again.append(memory.again)
        return again

    assert on_a_loop(main()) == [set(), {"hook"}]
