"""CEL as Kubernetes speaks it: its libraries, its types, and cel-go's words for what is wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.api.quantity import parse_quantity
from lifecycle.apiserver.cel import object_literals
from lifecycle.apiserver.cel.authorizer import Asking, asking
from lifecycle.apiserver.cel.environment import DYN, CompileError, Environment, EvaluationError, message_type
from lifecycle.apiserver.cel.types import message, message_from

ENVIRONMENT = Environment(
    {"object": DYN, "request": message_type("AdmissionRequest"), "authorizer": message_type("authorization.Authorizer")}
)
LITERALS = Environment({"object": DYN}, literals=True)
OBJECT = {"spec": {"replicas": 6, "containers": [{"image": "a/b"}, {"image": "c"}]}, "metadata": {"labels": {"a": "b"}}}


def evaluate(expression: str, obj: Any = OBJECT) -> Any:
    request = message_from(
        "AdmissionRequest", {"operation": "CREATE", "userInfo": {"username": "jane", "groups": ["g"]}}
    )
    values = {"object": obj, "request": request, "authorizer": message("authorization.Authorizer")}
    return ENVIRONMENT.compile(expression).evaluate(values)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("object.spec.replicas <= 5", False),
        ("object.spec.containers.all(c, c.image.startsWith('a/'))", False),
        ("object.?spec.paused.orValue(false)", False),
        ("object.metadata.labels.exists(k, k == 'a')", True),
        ("[1, 3, 2].isSorted()", False),
        ("[1, 2].sum() == 3 && [2, 1].min() == 1 && ['a', 'b'].max() == 'b'", True),
        ("['a', 'b', 'a'].lastIndexOf('a')", 2),
        ("'abcb'.indexOf('b', 2)", 3),
        ("sets.contains([1, 2], [1]) && sets.intersects([1], [1, 2]) && !sets.equivalent([1], [2])", True),
        ("'abc 123'.find('[0-9]+')", "123"),
        ("'1a2b'.findAll('[0-9]', 1)", ["1"]),
        ("'baaac'.findAll('a*')", ["", "aaa", ""]),
        ("('aaaaaaaaaaaaaaaaaaaa' + 'aaaaaaaaaaaaaaaaaaaab').find('^(a+)+$')", ""),
        ("'A,b'.lowerAscii().split(',').join('-')", "a-b"),
        ("' x '.trim().upperAscii().replace('X', 'yy').substring(1).charAt(0)", "y"),
        ("'%s %d %.2f %x %%'.format(['a', 1, 2.5, 255])", "a 1 2.50 ff %"),
        ("quantity('1Gi').isGreaterThan(quantity('500Mi')) && quantity('1.5').add(1).compareTo(quantity('2500m')) == 0", True),
        ("quantity('50k').asInteger()", 50000),
        ("isQuantity('1.5Gx')", False),
        ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3')) && semver('v1.2', true).minor() == 2", True),
        ("ip('127.0.0.1').isLoopback() && ip('::1').family() == 6 && !isIP('1.2.3')", True),
        ("cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsCIDR('0.0.0.0/0')", True),
        ("cidr('10.1.0.0/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').ip() == ip('10.0.0.0')", True),
        ("url('https://a:80/b?c=d').getHost() + url('https://a:80/b?c=d').getQuery()['c'][0]", "a:80d"),
        ("request.userInfo.username + request.operation", "janeCREATE"),
        ("[3, 1, 2].sort() == [1, 2, 3] && [1, 2, 1].distinct().reverse() == [2, 1]", True),
        ("[[[1]], [[2]]].flatten(2) == lists.range(3).slice(1, 3)", True),
        ("1 / 0 > 1 || true", True),
    ],
)  # fmt: skip
def test_expressions_evaluate(expression: str, value: Any) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("object.spec.nope == 1", "no such key: nope"),
        ("object.spec.containers[7].image == ''", "index out of bounds: 7"),
        ("object.spec.replicas + 'a' == ''", "no such overload"),
        ("object.spec.replicas / 0 == 1", "division by zero"),
        ("quantity('five')", "quantities must match the regular expression"),
        ("semver('one')", "No Major.Minor.Patch elements found"),
        ("[].min()", "min called on empty list"),
    ],
)
def test_failures_are_worded_as_cel_go_words_them(expression: str, why: str) -> None:
    with pytest.raises(EvaluationError) as failed:
        evaluate(expression)
    assert str(failed.value).startswith(why)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("nope.x.y", "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope.x.y\n | ^"),
        ("request.foo", "ERROR: <input>:1:8: undefined field 'foo'\n | request.foo\n | .......^"),
        ("'x' + 1", "ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n | 'x' + 1\n | ....^"),
        ("quantity('1').isLessThan('2')", "found no matching overload for 'isLessThan' applied to 'kubernetes.Quantity.(string)'"),
    ],
)  # fmt: skip
def test_mistakes_are_found_when_compiling(expression: str, why: str) -> None:
    with pytest.raises(CompileError) as found:
        ENVIRONMENT.compile(expression)
    assert str(found.value).startswith("compilation failed: ")
    assert why in str(found.value)


def test_a_result_of_another_type_is_refused() -> None:
    with pytest.raises(CompileError, match=r"^must evaluate to bool but got map\(string, int\)$"):
        ENVIRONMENT.compile("{'a': 1}", ("bool",))
    with pytest.raises(CompileError, match=r"^must evaluate to one of \[string null_type\] but got int$"):
        ENVIRONMENT.compile("1", ("string", "null_type"))


class _Verdict(NamedTuple):
    allowed: bool
    reason: str = ""
    error: str = ""


def test_the_authorizer_is_asked_what_the_expression_asks() -> None:
    asked: list[tuple[str, RequestInfo]] = []

    def authorize(user: UserInfo, info: RequestInfo) -> _Verdict:
        asked.append((user.name, info))
        return _Verdict(info.verb == "get", "because")

    with asking(Asking(authorize, UserInfo("jane"))):
        assert evaluate(
            "authorizer.group('apps').resource('deployments').subresource('scale').namespace('n').name('d').check('get').allowed()"
        )
        assert evaluate("authorizer.serviceAccount('n', 'robot').path('/healthz').check('post').reason()") == "because"
    (one, first), (two, second) = asked
    assert (one, first.group, first.resource, first.subresource, first.namespace, first.name) == (
        "jane",
        "apps",
        "deployments",
        "scale",
        "n",
        "d",
    )
    assert (two, second.is_resource_request, second.path) == ("system:serviceaccount:n:robot", False, "/healthz")


def test_object_literals_become_objects_and_keep_their_types() -> None:
    program = LITERALS.compile(
        "Object{spec: Object.spec{replicas: object.spec.replicas + 1, ?paused: optional.none()}}", ("Object",)
    )
    value = program.evaluate({"object": OBJECT})
    assert object_literals.type_of(value) == "Object"
    assert object_literals.plain(value) == {"spec": {"replicas": 7}}


def test_an_error_in_a_literal_is_shown_where_it_was_written() -> None:
    text = "Object{metadata: Object.metadata{\n  name: nobody.name}}"
    with pytest.raises(CompileError) as found:
        LITERALS.compile(text)
    assert str(found.value) == (
        "compilation failed: ERROR: <input>:2:9: undeclared reference to 'nobody' (in container '')\n |   name: nobody.name}}\n | ........^"
    )


def test_texts_that_look_like_literals_are_left_alone() -> None:
    assert LITERALS.compile("'Object{a: b}' + \"JSONPatch{x: 1}\"").evaluate({}) == "Object{a: b}JSONPatch{x: 1}"


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("[JSONPatch{nope: 1}]", "1:16: expected type of field 'nope' is '' but provided type is 'int'"),
        ("[JSONPatch{op: 1}]", "1:14: expected type of field 'op' is 'string' but provided type is 'int'"),
        ("[JSONPatch{\n op : Object{}}]", "2:5: expected type of field 'op' is 'string' but provided type is 'Object'"),
        ("[JSONPatch{op: {}}]", "1:14: expected type of field 'op' is 'string' but provided type is 'map(_var0, _var1)'"),
        ("[JSONPatch{path: cidr('10.0.0.0/8')}]", "1:16: expected type of field 'path' is 'string' but provided type is 'net.CIDR'"),
        ("[JSONPatch{'op': 'add'}]", "1:12: Syntax error: mismatched input ''op'' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"),
        ("[JSONPatch{op: 'a' path: 'b'}]", "1:20: Syntax error: mismatched input 'path' expecting {'}', ','}"),
    ],
)  # fmt: skip
def test_fields_of_a_json_patch_have_types(expression: str, complaint: str) -> None:
    with pytest.raises(CompileError) as caught:
        LITERALS.compile(expression)
    assert str(caught.value).startswith(f"compilation failed: ERROR: <input>:{complaint}\n | ")


def test_what_fits_a_field_of_a_json_patch_passes() -> None:
    whole = "[JSONPatch{op: object.op, path: 'a' + 'b', value: {'a': [1]}, from: {'x': 'y'}.x}]"
    assert LITERALS.compile(whole, ["list(JSONPatch)"]).evaluate({"object": {"op": "add"}}) == [
        {"\x00type": "JSONPatch", "op": "add", "path": "ab", "value": {"a": [1]}, "from": "y"}
    ]


AMOUNTS = st.tuples(st.integers(-(10**6), 10**6), st.sampled_from(["", "m", "k", "Mi"])).map(
    lambda pair: f"{pair[0]}{pair[1]}"
)


@settings(max_examples=60, deadline=None)
@given(AMOUNTS, AMOUNTS)
def test_quantities_compare_as_our_quantities_do(one: str, other: str) -> None:
    expected = (parse_quantity(one) > parse_quantity(other)) - (parse_quantity(one) < parse_quantity(other))
    assert evaluate(f"quantity('{one}').compareTo(quantity('{other}'))") == expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-100, 100), max_size=6))
def test_lists_add_up_and_know_their_order(items: list[int]) -> None:
    assert evaluate("object.isSorted()", items) == (items == sorted(items))
    assert evaluate("object.sum()", items) == sum(items)


@pytest.mark.parametrize(
    "expression",
    [
        "'x'" + ".replace('x', 'xx')" * 25,
        "'%.99999999f'.format([1.5])",
        "['" + "y" * 4_000 + "', ''].map(x, x" + ".replace('y', 'yy')" * 12 + ").join('')",
    ],
)
def test_a_text_that_would_be_too_long_is_not_made(expression: str) -> None:
    with pytest.raises(EvaluationError, match=r"operation cancelled: actual cost limit exceeded$"):
        Environment({}).compile(expression).evaluate({})


def test_what_comes_out_of_an_expression_is_counted() -> None:
    program = Environment({"v": DYN}).compile("v + v")
    assert len(program.evaluate({"v": [0] * 50_000})) == 100_000
    with pytest.raises(EvaluationError, match=r"operation cancelled: actual cost limit exceeded$"):
        program.evaluate({"v": [0] * 50_001})
    with pytest.raises(EvaluationError, match=r"operation cancelled: actual cost limit exceeded$"):
        program.evaluate({"v": [["x" * 100_000]] * 51})
