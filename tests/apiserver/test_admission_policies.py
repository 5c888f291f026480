"""Policies in CEL: what they refuse, warn about and change, and which of them are refused themselves."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from itertools import count
from typing import Any
from unittest.mock import patch

import pytest

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.loop.worker import PIECES, Turn
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.mutating_policy import Mutator
from lifecycle.apiserver.admission.policy_expressions import Composition, Evaluation, base_environment
from lifecycle.apiserver.admission.validating_policy import Validator
from lifecycle.apiserver.audit import context
from lifecycle.apiserver.authz.authorizer import ALLOW, Verdict
from lifecycle.apiserver.cel.environment import Program
from tests.apiserver.admission_server import Asker, binding, config_map, play, pod, policy, put_policy, rules


def outcome(
    obj: Object, *, bound: Object | None = None, before: list[Object] | None = None, **spec: Any
) -> tuple[int, str]:
    """Status and message of a create under one ValidatingAdmissionPolicy called `p`."""

    async def scene(asker: Asker) -> tuple[int, str]:
        for each in before or ():
            await asker.made(each)
        await put_policy(asker, "Validating", "p", bound, **spec)
        response = await asker.create(obj)
        assert response.obj is not None
        return response.status, response.obj.get("message", "")

    return play(scene)


def rule(expression: str, **more: str) -> list[Object]:
    return [{"expression": expression, **more}]


DENIED = "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: "


@pytest.mark.parametrize(
    ("validation", "status", "message"),
    [
        (rule("object.data.a == '1'"), 201, ""),
        (rule("object.data.a == '2'"), 422, DENIED + "failed expression: object.data.a == '2'"),
        (rule("object.data.a == '2'", message="wants two", reason="Forbidden"), 403, DENIED + "wants two"),
        (rule("false", messageExpression="'got ' + object.data.a", message="no"), 422, DENIED + "got 1"),
        (rule("false", messageExpression="string(object.data.nope)", message="no"), 422, DENIED + "no"),
        (
            rule("object.data.nope == '2'"),
            422,
            DENIED + "expression 'object.data.nope == '2'' resulted in error: no such key: nope",
        ),
        (rule("authorizer.group('').resource('pods').check('create').allowed()"), 201, ""),
        (rule("request.userInfo.groups.exists(g, g == 'system:masters')"), 201, ""),
        (rule("namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'default'"), 201, ""),
        (rule("oldObject == null && request.operation == 'CREATE'"), 201, ""),
    ],
)
def test_a_validation_decides(validation: list[Object], status: int, message: str) -> None:
    assert outcome(config_map(a="1"), validations=validation) == (status, message)


def test_what_cannot_be_evaluated_is_let_through_under_ignore() -> None:
    assert outcome(config_map(), validations=rule("object.x.y == 1"), failurePolicy="Ignore")[0] == 201


def test_variables_have_types_are_lazy_and_build_on_each_other() -> None:
    variables = [
        {"name": "n", "expression": "int(object.data.n)"},
        {"name": "double", "expression": "variables.n * 2"},
        {"name": "broken", "expression": "object.data.nope"},
    ]
    good = rule("variables.double == 4 || variables.broken == 'x'")
    assert outcome(config_map(n="2"), variables=variables, validations=good)[0] == 201
    _, message = outcome(config_map(n="3"), variables=variables, validations=good)
    assert message.endswith('resulted in error: composited variable "broken" fails to evaluate: no such key: nope')


def test_a_match_condition_that_does_not_hold_skips_the_policy() -> None:
    conditions = [{"name": "not-root", "expression": "request.userInfo.username != 'root'"}]
    assert outcome(config_map(), matchConditions=conditions, validations=rule("false"))[0] == 201


def test_what_two_match_conditions_fail_at_in_the_same_words_is_told_once() -> None:
    """Upstream: `utilerrors.Aggregate`."""
    conditions = [{"name": name, "expression": "object.nope == 1"} for name in ("once", "twice")]
    _, message = outcome(config_map(), matchConditions=conditions, validations=rule("false"))
    assert message.endswith("denied request: expression 'object.nope == 1' resulted in error: no such key: nope")


def test_parameters_come_from_another_object() -> None:
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    reference = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    spec: Any = {"paramKind": kind, "validations": rule("object.data.size() <= int(params.data.most)")}
    limits = config_map("limits", most="1")
    bound = {"paramRef": reference}
    assert outcome(config_map(a="1"), bound=bound, before=[limits], **spec)[0] == 201
    assert outcome(config_map(a="1", b="2"), bound=bound, before=[limits], **spec)[0] == 422
    status, message = outcome(config_map(), bound=bound, **spec)
    assert (status, message.partition("denied request: ")[2]) == (
        422, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    )  # fmt: skip


def test_a_binding_may_only_warn_and_without_one_nothing_happens() -> None:
    async def scene(asker: Asker) -> list[Any]:
        await asker.made(policy("Validating", "p", validations=rule("false", message="no")))
        await asker.made(config_map("one"))
        first = asker.warnings
        await asker.made(binding("Validating", "p", validationActions=["Warn"]))
        await asker.made(config_map("two"))
        return [first, asker.warnings]

    assert play(scene) == [[], ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p': no"]]


def test_images_from_one_registry_only() -> None:
    allowed = "object.spec.containers.all(c, c.image.startsWith('registry.example/'))"
    spec: Any = {"matches": rules("pods"), "validations": rule(allowed, message="images come from registry.example")}
    assert outcome(pod("ours", "registry.example/app"), **spec)[0] == 201
    assert outcome(pod("theirs", "registry.example/app", "docker.io/nginx"), **spec)[0] == 422


def mutated(obj: Object, *mutations: Object, **spec: Any) -> Any:
    """What a create makes of an object under one MutatingAdmissionPolicy; its message if it is refused."""

    async def scene(asker: Asker) -> Any:
        await put_policy(
            asker, "Mutating", "p", matches=rules(f"{obj['kind'].lower()}s"), mutations=list(mutations), **spec
        )
        response = await asker.create(obj)
        assert response.obj is not None
        return response.obj if response.status == 201 else (response.status, response.obj["message"])

    return play(scene)


def configuration(expression: str) -> Object:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}


def json_patch(expression: str) -> Object:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}


def test_an_apply_configuration_merges_containers_by_name() -> None:
    sidecar = "Object.spec.containers{name: 'proxy', image: 'registry.example/proxy'}"
    made = mutated(pod("p"), configuration(f"Object{{spec: Object.spec{{containers: [{sidecar}]}}}}"))
    assert [container["name"] for container in made["spec"]["containers"]] == ["c0", "proxy"]
    assert made["spec"]["containers"][1]["terminationMessagePath"] == "/dev/termination-log"


def test_a_json_patch_and_each_mutation_sees_the_one_before() -> None:
    first = json_patch("[JSONPatch{op: 'add', path: '/data', value: {'a': 'b'}}]")
    key = "jsonpatch.escapeKey('x/y')"
    second = json_patch(
        f"[JSONPatch{{op: 'add', path: '/metadata/annotations', value: {{'x': 'y'}}}}, "
        f"JSONPatch{{op: 'add', path: '/metadata/annotations/' + {key}, value: object.data.a + 'c'}}]"
    )
    made = mutated(config_map(), first, second)
    assert made["data"] == {"a": "b"}
    assert made["metadata"]["annotations"] == {"x": "y", "x/y": "bc"}


def test_a_failing_mutation_refuses_and_a_failing_test_does_nothing() -> None:
    status, message = mutated(config_map(), json_patch("[JSONPatch{op: 'remove', path: '/data/nope'}]"))
    assert status == 403
    assert message.startswith("policy 'p' with binding 'p' denied request: JSON Patch: remove operation does not apply")
    tested = json_patch(
        "[JSONPatch{op: 'test', path: '/data/a', value: 'z'}, JSONPatch{op: 'remove', path: '/data/a'}]"
    )
    assert mutated(config_map(a="1"), tested)["data"] == {"a": "1"}


def test_an_object_in_the_wrong_place_and_an_atomic_list_are_found_out() -> None:
    _, wrong = mutated(pod("p"), configuration("Object{spec: Object.metadata{}}"))
    assert wrong.endswith(
        'unexpected type name "Object.metadata", expected "Object.spec", which matches field name path from root Object type'
    )
    args = "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c0', args: ['x']}]}}"
    _, atomic = mutated(pod("p"), configuration(args))
    assert atomic.endswith(
        "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.containers.args"
    )


def test_policies_that_want_it_see_what_later_ones_have_added() -> None:
    async def scene(asker: Asker) -> Any:
        count = "[JSONPatch{op: 'add', path: '/data/count', value: string(object.data.size())}]"
        add = "[JSONPatch{op: 'add', path: '/data/late', value: 'x'}]"
        await put_policy(asker, "Mutating", "a", mutations=[json_patch(count)], reinvocationPolicy="IfNeeded")
        await put_policy(asker, "Mutating", "b", mutations=[json_patch(add)])
        return (await asker.made(config_map(a="1")))["data"]

    assert play(scene) == {"a": "1", "count": "3", "late": "x"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"validations": rule("object.spec.replicas <=")},
            'spec.validations[0].expression: Invalid value: "object.spec.replicas <=": compilation failed: ERROR: <input>:1:24: '
            "Syntax error: "
            "mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', "
            "NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n"
            " | object.spec.replicas <=\n | .......................^",
        ),
        (
            {"validations": rule("params.x == 1")},
            "undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^",
        ),
        ({"validations": rule("'text'")}, "must evaluate to bool but got string"),
        ({"validations": rule("object.x")}, "must evaluate to bool but got dyn"),
        ({"validations": rule("request.foo == 1")}, "compilation failed: ERROR: <input>:1:8: undefined field 'foo'"),
        (
            {"validations": rule("true", messageExpression="1")},
            'messageExpression: Invalid value: "1": must evaluate to string but got int',
        ),
        (
            {"validations": []},
            "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
        ),
        (
            {"validations": rule("true", reason="Mood")},
            'reason: Unsupported value: "Mood": supported values: "Forbidden", "Invalid"',
        ),
        (
            {"variables": [{"name": "in", "expression": "1"}], "validations": rule("true")},
            'name: Invalid value: "in": must be a valid CEL identifier',
        ),
        (
            {"variables": [{"name": "n", "expression": "1"}], "validations": rule("variables.n == 'a'")},
            "found no matching overload for '_==_' applied to '(int, string)'",
        ),
    ],
)
def test_a_policy_that_cannot_work_is_refused(spec: Any, message: str) -> None:
    async def scene(asker: Asker) -> Any:
        response = await asker.create(policy("Validating", "p", **spec))
        assert response.obj is not None
        return response.status, response.obj["message"]

    status, said = play(scene)
    assert status == 422
    assert message in said


def test_a_binding_cannot_both_deny_and_warn() -> None:
    async def scene(asker: Asker) -> Any:
        return (await asker.create(binding("Validating", "p", validationActions=["Deny", "Warn"]))).obj

    assert "must not contain both Deny and Warn" in play(scene)["message"]


@pytest.mark.parametrize("used_up", [False, True])
def test_with_its_turn_over_a_request_has_its_expressions_evaluated_beside_the_loop_but_asks_on_it(
    used_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many policies and parameters there are, others are answered meanwhile."""
    evaluated, asked = [], []
    evaluate = Program.evaluate

    def noted(program: Program, values: Mapping[str, Any]) -> Any:
        evaluated.append(threading.current_thread().name.partition("_")[0])
        return evaluate(program, values)

    def authorize(user: UserInfo, info: RequestInfo) -> Verdict:
        asked.append((threading.current_thread().name, user.name, info.verb, info.resource))
        return ALLOW

    monkeypatch.setattr(Program, "evaluate", noted)
    question = "authorizer.group('').resource('pods').check('create').allowed() && object.data.a == '1'"

    async def scene() -> None:
        attributes = Attributes(
            "CREATE", resource("configmaps"), "", "default", "m", config_map(a="1"), user=UserInfo("jane")
        )
        if used_up:
            with patch.object(asyncio.get_running_loop(), "time", count(step=2 * PIECES).__next__):
                await attributes.turn.work(dict)  # twice what a request's pieces may take
        evaluation = Evaluation(attributes, resource("configmaps"), namespace=None, authorize=authorize)
        assert await evaluation.evaluate(base_environment(False, True).compile(question, ("bool",))) is True

    asyncio.run(scene())
    assert asked == [("MainThread", "jane", "create", "pods")]
    assert evaluated == (["worker", "worker"] if used_up else ["MainThread"])


@pytest.mark.parametrize(("kind", "compiler"), [("Validating", Validator), ("Mutating", Mutator)])
def test_a_policy_is_compiled_when_a_request_that_it_matches_comes_and_only_then(
    kind: str, compiler: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    begin = compiler.__init__

    def noted(self: Any, policy: Object) -> None:
        compiled.append(policy["metadata"]["name"])
        begin(self, policy)

    monkeypatch.setattr(compiler, "__init__", noted)
    change = {
        "patchType": "JSONPatch",
        "jsonPatch": {"expression": "[JSONPatch{op: 'test', path: '/kind', value: 'Pod'}]"},
    }
    spec = {"validations": rule("true")} if kind == "Validating" else {"mutations": [change]}

    async def scene(asker: Asker) -> None:
        for number in range(3):
            await put_policy(asker, kind, f"p{number}", matches=rules("pods"), **spec)
        await asker.made(config_map())
        assert compiled == []
        await asker.made(pod("a"))
        await asker.made(pod("b"))
        assert sorted(compiled) == ["p0", "p1", "p2"]

    play(scene)


def test_each_variable_is_a_piece_of_its_own_so_that_many_do_not_hold_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """One mentions the other: asked for the last, all of them are evaluated."""
    composition = Composition()
    for number in range(5):
        composition.add(f"v{number}", f"variables.v{number - 1} + 'x'" if number else "'x'")
    program = composition.compile("variables.v4 == 'xxxxx'", ("bool",))
    pieces: list[str] = []

    async def work(self: Turn, do: Any, program: Program) -> Any:
        pieces.append(program.source)
        return do(program)

    monkeypatch.setattr(Turn, "work", work)
    attributes = Attributes("CREATE", resource("configmaps"), "", "default", "m", config_map(a="1"))
    evaluation = Evaluation(attributes, resource("configmaps"), namespace=None, composition=composition)
    assert asyncio.run(evaluation.evaluate(program)) is True
    assert pieces == ["'x'", *(f"variables.v{n} + 'x'" for n in range(4)), "variables.v4 == 'xxxxx'"]


A_FAILURE = '[{{"message":"{}","policy":"p","binding":"{}","expressionIndex":0,"validationActions":["Audit"]}}]'


def notes(*expressions: tuple[str, str], bindings: int = 1, **spec: Any) -> tuple[int, str, dict[str, str]]:
    """Status and message of a create under a policy with audit annotations that is bound so often, and what is noted."""
    event: Object = {}

    async def scene(asker: Asker) -> tuple[int, str]:
        annotations = [{"key": key, "valueExpression": expression} for key, expression in expressions]
        await put_policy(
            asker, "Validating", "p", {"validationActions": ["Audit"]}, auditAnnotations=annotations, **spec
        )
        for number in range(1, bindings):
            another = binding("Validating", "p", validationActions=["Audit"])
            await asker.made({**another, "metadata": {"name": f"p{number}"}})
        context.audit_event.set(event)
        response = await asker.create(config_map(a="1", long="z" * 2_000))
        assert response.obj is not None
        return response.status, response.obj.get("message", "")

    answer = play(scene)
    return (*answer, {key: note for key, note in event["annotations"].items() if not key.startswith("authorization.")})


LONG = "'abcdefghij'.replace('', object.data.long)"
BROKEN = "string(object.data.nope)"


@pytest.mark.parametrize(
    ("expressions", "spec", "expected"),
    [  # as a real server notes them
        ([("a", "'x ' + object.data.a"), ("blank", "'  '"), ("none", "null")], {}, {"p/a": "x 1"}),
        ([("a", "' x '")], {"bindings": 2}, {"p/a": "x"}),
        ([("a", BROKEN), ("b", "'said'")], {"failurePolicy": "Ignore"}, {"p/b": "said"}),
        (
            [("a", "'said'")],
            {"bindings": 2, "validations": [*rule("false", message="one"), *rule("false", message="two")]},
            {"p/a": "said", "validation.policy.admission.k8s.io/validation_failure": A_FAILURE.format("one", "p")},
        ),
    ],
)
def test_what_a_policy_wants_to_be_known_is_noted(
    expressions: list[tuple[str, str]], spec: dict[str, Any], expected: dict[str, str]
) -> None:
    assert notes(*expressions, **spec) == (201, "", expected)


def test_a_note_is_cut_off_and_one_that_cannot_be_made_refuses_the_request() -> None:
    assert len(notes(("a", LONG))[2]["p/a"]) == 10 * 1024
    why = f"expression '{BROKEN}' resulted in error: no such key: nope"
    assert notes(("a", BROKEN), ("b", "'said'")) == (422, DENIED + why, {"p/b": "said"})
