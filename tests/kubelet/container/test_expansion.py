"""`$(NAME)` in words and variables, and how much of them a container may have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.kubelet.container.container_facts import expand_command_only_static
from lifecycle.kubelet.container.expansion import ARG_MAX, Expansion, ExpansionError, expand
from lifecycle.kubelet.container.runtime_helper import ContainerEnvironmentError
from lifecycle.kubelet.kubelet_pods.environment import make_environment_variables
from lifecycle.kubelet.kubelet_pods.mounts import MountError, subpath_of
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, nginx


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("", ""),
        ("plain", "plain"),
        ("$(A)", "1"),
        ("a$(A)b$(B)c", "a1b22c"),
        ("$(A)$(A)", "11"),
        ("$(NONE)", "$(NONE)"),
        ("$()", "$()"),
        ("$(EMPTY)x", "x"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$$", "$"),
        ("$$$$", "$$"),
        ("$", "$"),
        ("a$", "a$"),
        ("$(A", "$(A"),
        ("$($(A)", "$($(A)"),
        ("$A$(A)", "$A1"),
        ("$x", "$x"),
        ("$ $(A)", "$ 1"),
        ("(A)", "(A)"),
    ],
)
def test_a_variable_in_brackets_is_what_it_says(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "22", "EMPTY": ""}.get) == expanded


def test_brackets_that_nobody_closes_are_looked_at_once() -> None:
    """A million of them: whoever looks for each one's end goes through all the rest each time."""
    looked: list[str] = []
    text = "$(A)" + "$(" * 1_000_000

    def known(name: str) -> str:
        looked.append(name)
        return "x"

    assert expand(text, known) == "x" + "$(" * 1_000_000
    assert looked == ["A"]


def test_what_is_put_in_has_a_limit_for_all_of_a_containers_words() -> None:
    expansion, known = Expansion(), {"A": "a" * (ARG_MAX // 4)}.get
    for _ in range(4):
        assert len(expansion.expand("$(A)", known)) == ARG_MAX // 4
    assert expansion.expand("$(B) and as much by itself as anybody likes" * 100_000, known)
    with pytest.raises(
        ExpansionError, match=r"argument list too long: more than 2097152 bytes of variables in others$"
    ):
        Expansion().expand("$(A)" * 5, known)
    with pytest.raises(ExpansionError):
        expand_command_only_static(["$(A)"] * 5, [{"name": "A", "value": "a" * (ARG_MAX // 4)}])
    with pytest.raises(MountError, match=r"argument list too long: more than 2097152 bytes of variables in others$"):
        subpath_of({"subPathExpr": "$(A)" * 5}, {"A": "a" * (ARG_MAX // 4)})


@pytest.mark.parametrize("letter", ["é", "語", "🙂"])
def test_a_letter_of_several_bytes_counts_as_many(letter: str) -> None:
    just = letter * (ARG_MAX // len(letter.encode()))
    assert expand("$(A)", {"A": just}.get) == just
    with pytest.raises(
        ExpansionError, match=f"^argument list too long: more than {ARG_MAX} bytes of variables in others$"
    ):
        expand("$(A)", {"A": just + letter}.get)


def doubling(count: int) -> list[dict[str, Any]]:
    twice = [{"name": f"E{i}", "value": f"$(E{i - 1})$(E{i - 1})"} for i in range(1, count)]
    return [{"name": "E0", "value": "x" * 100}, *twice]


@pytest.mark.parametrize(("count", "fits"), [(14, True), (40, False)])
def test_variables_that_double_are_refused_before_they_are_there(count: int, fits: bool) -> None:
    pod: dict[str, Any] = {"metadata": {"namespace": "default", "name": "p"}, "spec": {}}

    async def get(*_: str) -> Any:
        raise LookupError

    made = make_environment_variables(pod, {"name": "c", "env": doubling(count)}, get)
    if fits:
        assert len(run_virtual(made)["E13"]) == 100 << 13
        return
    with pytest.raises(
        ContainerEnvironmentError, match=r"argument list too long: more than 2097152 bytes of variables in others$"
    ):
        run_virtual(made)


@pytest.mark.parametrize(
    "container",
    [
        {"env": doubling(40)},
        {
            "env": [{"name": "A", "value": "a" * (ARG_MAX // 4)}],
            "command": ["sh", "-c", "sleep 1"],
            "args": ["$(A)"] * 5,
        },
    ],
)
def test_the_pod_says_so(container: dict[str, Any]) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            pod = nginx("bomb")
            pod["spec"]["containers"][0] |= container
            await cluster.create_pod(pod)
            await asyncio.sleep(5)
            waiting = (await cluster.pod("bomb"))["status"]["containerStatuses"][0]["state"]["waiting"]
            assert waiting["reason"] == "CreateContainerConfigError"
            assert waiting["message"].startswith("argument list too long: more than 2097152 bytes")

    run_virtual(main())
