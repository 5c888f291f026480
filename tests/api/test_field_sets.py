"""Sets of fields obey the laws of sets, and the form they are stored in."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.fieldpath.field_sets import (
    LEAF,
    difference,
    from_paths,
    has,
    intersection,
    normalized,
    paths,
    recursive_difference,
    union,
)
from lifecycle.api.fieldpath.path_elements import path_text

elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'v:"y"'])
some_paths = st.lists(st.lists(elements, min_size=1, max_size=3).map(tuple), max_size=6)
fields = some_paths.map(lambda found: from_paths(*found))


def as_set(f):
    return set(paths(f))


@given(some_paths)
def test_a_set_holds_the_paths_it_was_made_of(found):
    made = from_paths(*found)
    assert as_set(made) == set(found)
    assert all(has(made, path) for path in found)
    assert normalized(made) == made


@given(fields, fields)
def test_union_difference_and_intersection_are_those_of_sets(a, b):
    assert as_set(union(a, b)) == as_set(a) | as_set(b)
    assert as_set(difference(a, b)) == as_set(a) - as_set(b)
    assert as_set(intersection(a, b)) == as_set(a) & as_set(b)
    assert union(a, b) == union(b, a)
    for made in (union(a, b), difference(a, b), intersection(a, b)):
        assert normalized(made) == made
        assert list(map(str, normalized(made).items())) == list(map(str, made.items()))  # in upstream's order


@given(fields, fields)
def test_recursive_difference_takes_everything_below(a, b):
    taken = as_set(b)
    assert as_set(recursive_difference(a, b)) == {
        path for path in as_set(a) if not any(path[:n] in taken for n in range(1, len(path) + 1))
    }


@given(fields, fields, fields)
def test_union_is_associative(a, b, c):
    assert union(union(a, b), c) == union(a, union(b, c))


@given(fields, fields)
def test_operands_are_not_changed(a, b):
    before = str(a), str(b)
    union(a, b), difference(a, b), intersection(a, b), recursive_difference(a, b)
    assert (str(a), str(b)) == before


@given(fields)
def test_what_does_not_change_is_shared(a):
    assert union(a, a) is a
    assert difference(a, LEAF) is a
    assert difference(a, from_paths(("f:elsewhere",))) is a


def test_items_are_ordered_by_their_keys_numbers_as_numbers():
    made = from_paths(('k:{"containerPort":443}',), ('k:{"containerPort":80}',), ("f:z",), ('v:"a"',))
    assert list(made) == ["f:z", 'k:{"containerPort":80}', 'k:{"containerPort":443}', 'v:"a"']


def test_paths_as_people_read_them():
    path = ("f:spec", "f:ports", 'k:{"port":80,"protocol":"TCP"}', "f:name")
    assert path_text(path) == '.spec.ports[port=80,protocol="TCP"].name'
    assert path_text(("f:metadata", "f:finalizers", 'v:"a/b"')) == '.metadata.finalizers[="a/b"]'
