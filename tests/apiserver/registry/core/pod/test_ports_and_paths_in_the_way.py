"""Ports and paths of a pod that collide are found by what they are, not by comparing each with each; and of very many, some are told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.apiserver.registry.core.pod import volume_path_warnings
from lifecycle.apiserver.registry.core.pod.resources import _validate_claim_names
from lifecycle.apiserver.registry.core.pod.taken_ports import TakenPorts
from lifecycle.apiserver.registry.core.pod.volume_path_warnings import MOST, overlapping_paths
from lifecycle.apiserver.registry.core.pod.warnings import _port_warnings

PORTS = st.tuples(
    st.sampled_from([80, 81]), st.sampled_from(["", "10.0.0.1", "10.0.0.2"]), st.sampled_from([0, 7, 8, 9])
)
PATHS = st.lists(st.sampled_from(["a", "b", "..", ""]), max_size=4).map("/".join)


@given(st.lists(PORTS, max_size=12))
def test_the_same_ports_collide_as_when_each_is_compared_with_each(ports: list[tuple[int, str, int]]) -> None:
    def warnings(index: int) -> list[str]:
        port, ip, number = ports[index]
        found = []
        for before, (other_port, other_ip, other_number) in enumerate(ports[:index]):
            if other_port != port:
                continue
            if (ip, number) == (other_ip, other_number):
                found.append(f"{index}: duplicate port definition with {before}")
            elif not number or not other_number:
                found.append(f"{index}: overlapping port definition with {before}")
            elif number == other_number and bool(ip) != bool(other_ip):
                found.append(f"{index}: dangerously ambiguous port definition with {before}")
        return found

    taken = TakenPorts()
    for index, (port, ip, number) in enumerate(ports):
        assert taken.add(port, "TCP", ip, number, str(index)) == warnings(index)


@given(st.lists(PATHS, min_size=2, max_size=8))
def test_the_same_paths_collide_as_when_each_is_compared_with_each(paths: list[str]) -> None:
    plain = [path.rstrip("/") for path in paths]
    expected = [
        (one, other)
        for index, one in enumerate(plain)
        for other in plain[:index]
        if one and other and (one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/"))
    ]
    volume = {"name": "v", "configMap": {"name": "m", "items": [{"key": "k", "path": path} for path in paths]}}
    prefix = 'volume "v" (ConfigMap "m"): overlapping paths: '
    assert overlapping_paths([volume]) == [f'{prefix}"{one}" with "{other}"' for one, other in expected]


def test_of_very_many_collisions_as_many_are_told_as_an_answer_has_room_for() -> None:
    items = [{"key": "k", "path": "same"} for _ in range(1_000)]
    volumes = [{"name": f"v{number}", "secret": {"secretName": "s", "items": items}} for number in range(5)]
    assert MOST <= len(overlapping_paths(volumes)) < MOST + 1_000
    ports = [{"containerPort": 80, "protocol": "TCP"} for _ in range(1_000)]
    assert MOST <= len(_port_warnings({"containers": [{"name": "c", "ports": ports}]}, "spec")) < MOST + 1_000


def test_a_path_is_looked_for_where_it_would_stand() -> None:
    places = volume_path_warnings._Places()
    for number in range(100):
        assert places.place(number, volume_path_warnings._Placed(f"d{number}/f")) == []
    assert [one.path for one in places.place(100, volume_path_warnings._Placed("d7"))] == ["d7/f"]
    assert places._lengths == {2, 4, 5}


def test_a_path_of_very_many_parts_is_one_path() -> None:
    places = volume_path_warnings._Places()
    long = "/".join("a" * 300_000)
    assert places.place(1, volume_path_warnings._Placed(long)) == []
    assert [one.path for one in places.place(2, volume_path_warnings._Placed("a/a"))] == [long]
    assert places._sorted == ["a/a", long]


CLAIMS = st.builds(
    lambda name, request: {"name": name, **request},
    st.sampled_from(["a", "b", "a/r"]),
    st.sampled_from([{}, {"request": "r"}, {"request": "s"}]),
)


@given(st.lists(CLAIMS, max_size=7))
def test_a_claim_without_a_request_collides_with_each_of_the_same_name(claims: list[dict[str, str]]) -> None:
    expected: list[tuple[str, str]] = []
    seen: list[str] = []
    for index, claim in enumerate(claims):
        key = "/".join(claim.values())
        again = claim["name"] if claim["name"] in seen else key
        others = [each for each in dict.fromkeys(seen) if each.partition("/")[0] == key]
        if claim["name"] in seen or key in seen:
            expected.append((f"claims[{index}]", again))
        elif not claim.get("request"):
            expected += [(f"claims[{index}]", key)] * len(others)
        if claim["name"] not in seen:
            seen.append(key)
    found = [
        (error.field, error.bad_value)
        for error in _validate_claim_names(claims, {"a", "b", "a/r"}, "claims")
        if error.type == "FieldValueDuplicate"
    ]
    assert found == expected


def test_the_names_that_a_claim_may_have_are_put_together_once() -> None:
    claims = [{"name": f"x{number}"} for number in range(100)]
    errors = _validate_claim_names(claims, {"a", "b"}, "claims")
    assert len({id(error.detail) for error in errors}) == 1
    assert errors[0].detail == "must be one of the names in pod.spec.resourceClaims: a, b"
