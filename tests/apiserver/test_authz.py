"""Authorization against 2,912 recorded decisions, each with its reason; rules, escalation and the node graph one by one."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import MASTERS, Object, RequestInfo, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authz import rbac, rule_coverage
from lifecycle.apiserver.authz.access_review_spec import request_info_from, user_from
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny, PrivilegedGroups
from lifecycle.apiserver.authz.authorizer import Decision, Verdict
from lifecycle.apiserver.authz.escalation import MOST_PIECES, EscalationCheck
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.policy_rule import rule_allows
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.rule_coverage import uncovered
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.bootstrap.policy import bootstrap_objects, node_rules, system_namespaces
from lifecycle.apiserver.storage.object_reader import StaticReader
from tests.apiserver.recorded_exchanges import RBAC, Replay, exchanges

# -- the recorded decisions -------------------------------------------------------------------------------------------


def recorded_policy(recording: str) -> list[Object]:
    """The roles and bindings that the recorded decisions were made from."""
    objects: list[Object] = []
    for exchange in exchanges("authz", recording):
        answer = exchange["response"]
        if exchange["method"] == "GET" and RBAC in exchange["path"] and str(answer.get("kind")).endswith("List"):
            kind = answer["kind"].removesuffix("List")
            objects += [{"apiVersion": answer["apiVersion"], "kind": kind, **item} for item in answer["items"]]
    return objects


def compare(recording: str) -> tuple[Counter[str], list[Any]]:
    """Every recorded decision against ours: counts, and the questions decided differently."""
    reader = StaticReader(recorded_policy(recording))
    rbac = RBACAuthorizer(reader)
    authorizer = UnionAuthorizer(PrivilegedGroups(), NodeAuthorizer(reader), rbac)
    counts: Counter[str] = Counter()
    different = []
    for exchange in exchanges("authz", recording):
        if not exchange["path"].endswith("/subjectaccessreviews"):
            continue
        spec, theirs = exchange["body"]["spec"], exchange["response"]["status"]
        user, info = user_from(spec), request_info_from(spec)
        ours = authorizer.authorize(user, info)
        if ours.allowed is not theirs["allowed"] or theirs.get("denied"):
            counts["decision differs"] += 1
            different.append((spec, theirs, ours))
        elif ours.reason == theirs.get("reason", ""):
            counts["equal"] += 1
        elif theirs["reason"] in {
            grant.reason
            for grant in rbac.grants(user, info.namespace)
            if any(rule_allows(rule, info) for rule in grant.rules)
        }:
            counts["another binding allows it too"] += 1
        else:
            counts["reason differs"] += 1
            different.append((spec, theirs, ours))
    return counts, different


@pytest.mark.parametrize("recording", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_recorded_decision_and_reason_is_ours(recording: str) -> None:
    """Where several bindings allow a request, upstream names one in an order it does not define: any of them is right."""
    counts, different = compare(recording)
    assert different == []
    ties = {"kind-1.36.2": 18, "kind-1.36.2-again": 21}[recording]
    assert counts == {"equal": 2912 - ties, "another binding allows it too": ties}


def test_of_the_older_version_only_what_changed_since_differs() -> None:
    """v1.32 began to hold nodes to their own node and pods (AuthorizeNodeWithSelectors); v1.20 let them read all."""
    counts, different = compare("bare-1.20.2")
    assert counts["decision differs"] == 8
    for spec, theirs, ours in different:
        assert spec["user"] == "system:node:lifecycle-worker"
        assert spec["resourceAttributes"]["resource"] in ("pods", "nodes")
        assert spec["resourceAttributes"]["verb"] in ("get", "list", "watch")
        assert theirs["allowed"]
        assert not ours.allowed
    assert counts["reason differs"] == 0


def test_refusals_and_rule_reviews_read_like_the_recorded_ones() -> None:
    """Through the whole chain: the recorder's roles first, then what it was refused, word for word."""

    async def main() -> list[str]:
        replay = Replay()
        await replay.start()
        await replay.aggregate_roles()
        found = []
        for exchange in exchanges("authz"):
            if exchange["note"] == "fixture":
                await replay.answer(exchange)
            if exchange["note"] == "what a refusal looks like" and exchange["status"] in (403, 404):
                found += [f"{exchange['n']} {line}" for line in await replay.differences(exchange)]
            if exchange["path"].endswith("/selfsubjectrulesreviews"):
                response, _ = await replay.answer(exchange)
                assert response.obj is not None
                theirs, ours = exchange["response"], response.obj
                for key in ("resourceRules", "nonResourceRules"):  # in the order of bindings, which is not defined
                    for status in (theirs["status"], ours["status"]):
                        status[key] = sorted(status[key], key=str)
                assert ours == theirs
        return found

    assert run_virtual(main()) == []


# -- rules ------------------------------------------------------------------------------------------------------------


def resource_question(
    verb: str, group: str, resource: str, name: str = "", namespace: str = "", sub: str = ""
) -> RequestInfo:
    return RequestInfo(True, "", verb, group=group, resource=resource, subresource=sub, name=name, namespace=namespace)


@pytest.mark.parametrize(
    ("rule", "question", "allowed"),
    [
        ({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, resource_question("get", "", "pods"), True),
        (
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
            resource_question("get", "", "pods", sub="log"),
            False,
        ),
        (
            {"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]},
            resource_question("get", "", "pods", sub="log"),
            True,
        ),
        (
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*/scale"]},
            resource_question("get", "apps", "x", sub="scale"),
            True,
        ),
        ({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*/scale"]}, resource_question("get", "apps", "x"), False),
        (
            {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
            resource_question("get", "apps", "x", sub="y"),
            True,
        ),
        (
            {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"]},
            resource_question("get", "", "secrets", "a"),
            True,
        ),
        (
            {"verbs": ["list"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["a"]},
            resource_question("list", "", "secrets"),
            False,
        ),
        ({"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}, RequestInfo(False, "/healthz/etcd", "get"), True),
        ({"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}, RequestInfo(False, "/healthz", "get"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, RequestInfo(False, "/anything", "get"), True),
        ({"verbs": ["get"], "apiGroups": ["*"], "resources": ["*"]}, RequestInfo(False, "/healthz", "get"), False),
    ],
)
def test_a_rule_covers_what_all_its_lists_name(rule: Object, question: RequestInfo, allowed: bool) -> None:
    assert rule_allows(rule, question) is allowed


words = st.sampled_from(["a", "b", "*", "a/s", "*/s"])
lists = st.lists(words, max_size=3)
rules = st.fixed_dictionaries(
    {"verbs": lists, "apiGroups": lists, "resources": lists},
    optional={"resourceNames": st.lists(st.sampled_from("xy"), max_size=2)},
)
bindings = st.lists(
    st.tuples(rules, st.sampled_from(["u", "v", "g", "sa"]), st.sampled_from(["", "n", "m"])), max_size=5
)
questions = st.builds(
    resource_question,
    st.sampled_from("abc"),
    st.sampled_from("ab"),
    st.sampled_from("ab"),
    st.sampled_from(["", "x", "z"]),
    st.sampled_from(["", "n"]),
    st.sampled_from(["", "s"]),
)


def policy_of(granted: list[tuple[Object, str, str]]) -> StaticReader:
    subjects = {
        "u": {"kind": "User", "name": "u"},
        "v": {"kind": "User", "name": "v"},
        "g": {"kind": "Group", "name": "g"},
        "sa": {"kind": "ServiceAccount", "name": "u", "namespace": "n"},
    }
    reader = StaticReader()
    for number, (rule, subject, namespace) in enumerate(granted):
        kind = "Role" if namespace else "ClusterRole"
        meta = {"name": f"r{number}", **({"namespace": namespace} if namespace else {})}
        ref = {"apiGroup": RBAC, "kind": kind, "name": f"r{number}"}
        reader.put({"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": meta, "rules": [rule]})
        binding = {"apiVersion": f"{RBAC}/v1", "kind": f"{kind}Binding", "metadata": meta, "roleRef": ref}
        reader.put({**binding, "subjects": [subjects[subject]]})
    return reader


@given(bindings, questions, st.sampled_from([("u", ()), ("v", ("g",)), ("system:serviceaccount:n:u", ())]))
def test_the_index_decides_like_a_walk_over_all_bindings(
    granted: list[tuple[Object, str, str]], question: RequestInfo, who: tuple[str, tuple[str, ...]]
) -> None:
    name, groups = who
    subjects_of = {"u": name == "u", "v": name == "v", "g": "g" in groups, "sa": name == "system:serviceaccount:n:u"}
    expected = any(
        subjects_of[subject] and namespace in ("", question.namespace) and rule_allows(rule, question)
        for rule, subject, namespace in granted
    )
    authorizer = RBACAuthorizer(policy_of(granted))
    for _ in range(2):  # the second time from memory
        assert authorizer.authorize(UserInfo(name, groups), question).allowed is expected


def test_what_is_remembered_of_a_user_is_by_namespace_and_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """And looked up once, whatever they ask for."""
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "nodes"]}
    head: Object = {"apiVersion": f"{RBAC}/v1", "roleRef": {"kind": "ClusterRole", "name": "r"}}
    reader = StaticReader(
        [{"kind": "ClusterRole", "metadata": {"name": "r"}, "apiVersion": f"{RBAC}/v1", "rules": [rule]}]
    )
    user, group = {"kind": "User", "name": "u"}, {"kind": "Group", "name": "g"}
    reader.put({**head, "kind": "RoleBinding", "metadata": {"name": "b", "namespace": "n"}, "subjects": [user]})
    reader.put({**head, "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": [group]})
    authorizer, asked = RBACAuthorizer(reader), list[str]()
    rules_of = authorizer.role_rules
    monkeypatch.setattr(authorizer, "role_rules", lambda ref, scope: asked.append(scope) or rules_of(ref, scope))
    for plural in ("pods", "nodes"):
        for groups, namespace, allowed in (
            ((), "m", False), ((), "n", True), (("h",), "m", False), (("g",), "m", True), (("g",), "n", True),
        ):  # fmt: skip
            question = resource_question("get", "", plural, namespace=namespace)
            assert authorizer.authorize(UserInfo("u", groups), question).allowed is allowed, (plural, groups, namespace)
        assert not authorizer.authorize(UserInfo("v"), question).allowed
    assert asked == ["n", "", "n"]


def test_a_changed_binding_counts_at_once() -> None:
    reader = policy_of([({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}, "u", "n")])
    authorizer = RBACAuthorizer(reader)
    question = resource_question("get", "", "pods", namespace="m")
    assert not authorizer.authorize(UserInfo("u"), question).allowed
    binding: Object = {"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "m"}, "apiVersion": f"{RBAC}/v1"}
    binding |= {"roleRef": {"kind": "ClusterRole", "name": "gone"}, "subjects": [{"kind": "User", "name": "u"}]}
    reader.put(binding)
    verdict = authorizer.authorize(UserInfo("u"), question)
    assert verdict.reason == f'RBAC: clusterrole.{RBAC} "gone" not found'
    rule = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}
    reader.put({"kind": "ClusterRole", "metadata": {"name": "gone"}, "apiVersion": f"{RBAC}/v1", "rules": [rule]})
    verdict = authorizer.authorize(UserInfo("u"), question)
    assert verdict == Verdict(Decision.ALLOW, 'RBAC: allowed by RoleBinding "b/m" of ClusterRole "gone" to User "u"')


class Counted(dict[str, Any]):
    """A binding that counts how often its subjects are looked at."""

    looks = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.looks += key == "subjects"
        return super().get(key, default)


def test_a_binding_is_read_again_only_if_it_has_changed() -> None:
    head: Object = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "roleRef": {"kind": "ClusterRole", "name": "r"},
    }
    crowd = Counted(head, metadata={"name": "crowd"}, subjects=[{"kind": "User", "name": f"u{i}"} for i in range(1000)])
    reader = StaticReader([crowd])
    authorizer = RBACAuthorizer(reader)
    question = resource_question("get", "", "pods")
    for number in range(5):
        reader.put({**head, "metadata": {"name": f"b{number}"}, "subjects": [{"kind": "User", "name": f"v{number}"}]})
        assert "not found" in authorizer.authorize(UserInfo(f"v{number}"), question).reason
    assert crowd.looks == 1
    reader.put(Counted(crowd, subjects=[]))
    assert not authorizer.authorize(UserInfo("u7"), question).reason


def test_the_union_takes_the_first_opinion_and_collects_reasons() -> None:
    class Denies(AlwaysDeny):
        def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
            return Verdict(Decision.DENY, "no")

    question, user = resource_question("get", "", "pods"), UserInfo("u")
    assert UnionAuthorizer(AlwaysDeny(), AlwaysDeny()).authorize(user, question).reason == "\n".join(
        ["Everything is forbidden."] * 2
    )
    assert UnionAuthorizer(AlwaysDeny(), AlwaysAllow()).authorize(user, question).allowed
    assert UnionAuthorizer(Denies(), AlwaysAllow()).authorize(user, question).decision is Decision.DENY
    assert PrivilegedGroups().authorize(UserInfo("u", (MASTERS,)), question).allowed


# -- escalation -------------------------------------------------------------------------------------------------------

EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
READ_PODS = {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}


def test_nobody_grants_what_they_do_not_have() -> None:
    reader = policy_of([(READ_PODS, "u", "n")])
    rbac = RBACAuthorizer(reader)
    check = EscalationCheck(rbac, rbac)
    info = resource_question("create", RBAC, "roles", "new", "n")
    new: Object = {"metadata": {"name": "new", "namespace": "n"}, "rules": [READ_PODS]}
    asyncio.run(check.check(UserInfo("u"), info, new))
    wider = {**new, "rules": [{**READ_PODS, "verbs": ["get", "delete", "create"]}]}
    with pytest.raises(StatusError) as refused:
        asyncio.run(check.check(UserInfo("u", ("g1", "g2")), info, wider))
    assert refused.value.message == (
        f'roles.{RBAC} "new" is forbidden: user "u" (groups=["g1" "g2"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "create"]}'
    )
    asyncio.run(check.check(UserInfo("u", (MASTERS,)), info, wider))
    stored = {**wider, "metadata": {**wider["metadata"], "finalizers": ["x"]}}
    asyncio.run(check.check(UserInfo("u"), info, wider, old=stored))  # the garbage collector's kind of change


def test_the_verbs_escalate_and_bind_lift_the_check() -> None:
    escalate = {"verbs": ["escalate"], "apiGroups": [RBAC], "resources": ["roles"]}
    bind = {"verbs": ["bind"], "apiGroups": [RBAC], "resources": ["clusterroles"], "resourceNames": ["r0"]}
    reader = policy_of([(EVERYTHING, "v", ""), (escalate, "u", "n"), (bind, "u", "n")])
    rbac = RBACAuthorizer(reader)
    check = EscalationCheck(rbac, rbac)
    role: Object = {"metadata": {"name": "new"}, "rules": [EVERYTHING]}
    asyncio.run(check.check(UserInfo("u"), resource_question("create", RBAC, "roles", "new", "n"), role))
    with pytest.raises(StatusError):
        asyncio.run(check.check(UserInfo("u"), resource_question("create", RBAC, "roles", "new", "m"), role))
    binding: Object = {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r0"}}
    asyncio.run(check.check(UserInfo("u"), resource_question("create", RBAC, "rolebindings", "b", "n"), binding))
    with pytest.raises(StatusError):
        asyncio.run(check.check(UserInfo("u"), resource_question("create", RBAC, "clusterrolebindings", "b"), binding))


@pytest.mark.parametrize("how", ["create", "patch", "apply", "update"])
def test_no_way_of_writing_a_role_goes_around_the_check(how: str) -> None:
    from lifecycle.api.http.wire import Request

    async def main() -> None:
        replay = Replay()
        await replay.start()
        manage = {"verbs": ["*"], "apiGroups": [RBAC], "resources": ["roles"]}
        manage["verbs"] = ["get", "create", "update", "patch"]
        role = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "Role",
            "metadata": {"name": "mine", "namespace": "default"},
            "rules": [manage],
        }
        await replay.write(role)
        binding = {**role, "kind": "RoleBinding", "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "mine"}}
        del binding["rules"]
        await replay.write({**binding, "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "jane"}]})
        path = f"/apis/{RBAC}/v1/namespaces/default/roles"
        wider = {**role, "rules": [EVERYTHING]}
        headers = {"content-type": "application/json", "user-agent": "jane"}
        if how == "create":
            request = Request("POST", path, obj={**wider, "metadata": {"name": "new"}}, headers=headers)
        elif how == "update":
            request = Request("PUT", f"{path}/mine", obj=wider, headers=headers)
        elif how == "patch":
            headers["content-type"] = "application/merge-patch+json"
            request = Request("PATCH", f"{path}/mine", obj={"rules": [EVERYTHING]}, headers=headers)
        else:
            headers["content-type"] = "application/apply-patch+yaml"
            query = {"fieldManager": ["jane"], "force": ["true"]}
            request = Request(
                "PATCH", f"{path}/new", obj={**wider, "metadata": {"name": "new"}}, headers=headers, query=query
            )
        request.user, request.accepts_object = UserInfo("jane"), True
        response = await replay.server.handler(request)
        assert response.status == 403
        assert "is attempting to grant RBAC permissions not currently held" in (response.obj or {})["message"]

    run_virtual(main())


@given(rules, st.lists(rules, max_size=3))
def test_a_rule_is_covered_if_each_of_its_pieces_is(wanted: Object, owned: list[Object]) -> None:
    def alone(rule: Object, piece: Object) -> bool:
        return not list(uncovered([rule], [piece]))

    assert list(uncovered([wanted], [wanted])) == []
    missing = list(uncovered(owned, [wanted]))
    assert missing == [piece for piece in pieces(wanted) if not any(alone(rule, piece) for rule in owned)]
    assert list(uncovered([*owned, *missing], [wanted])) == []


def pieces(rule: Object) -> list[Object]:
    """Of one group, resource, verb and name each."""
    keys = ["apiGroups", "resources", "verbs", *(["resourceNames"] if rule.get("resourceNames") else [])]
    lists = [keys, ["nonResourceURLs", "verbs"]]
    return [
        {key: [value] for key, value in zip(each, values, strict=True)}
        for each in lists
        for values in product(*(rule.get(key) or () for key in each))
    ]


VAST = {key: [f"{key}{number}" for number in range(2_000)] for key in ("apiGroups", "resources", "verbs")}


@pytest.mark.parametrize(("held", "missing"), [(2_000, 0), (1_999, MOST_PIECES + 1)])
def test_a_rule_of_eight_billion_pieces_is_not_broken_into_them(
    held: int, missing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared, common = 0, rule_coverage._common

    def counted(rules: int, sets: Any) -> int:
        nonlocal compared
        compared += 1
        return common(rules, sets)

    monkeypatch.setattr(rule_coverage, "_common", counted)
    owned = [{**VAST, "verbs": VAST["verbs"][:1_000]}, {**VAST, "verbs": VAST["verbs"][1_000:held]}]
    assert len(list(islice(uncovered(owned, [VAST]), MOST_PIECES + 1))) == missing
    assert compared <= 4 * (1 + missing)


def test_a_refusal_names_only_so_many_of_the_rights_that_are_missing() -> None:
    rbac = RBACAuthorizer(policy_of([]))
    question = resource_question("create", RBAC, "roles", "new", "n")
    with pytest.raises(StatusError) as refused:
        asyncio.run(EscalationCheck(rbac, rbac).check(UserInfo("u"), question, {"metadata": {}, "rules": [VAST]}))
    lines = refused.value.message.splitlines()
    assert lines[-1] == "..."
    assert len(lines) == MOST_PIECES // len(VAST["verbs"]) + 2


# -- nodes ------------------------------------------------------------------------------------------------------------

NODE = UserInfo("system:node:here", ("system:nodes", "system:authenticated"))


def pod(name: str, node: str, uid: str = "1", **spec: Any) -> Object:
    meta = {"name": name, "namespace": "n", "uid": uid}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": node, "containers": [], **spec}}


def may(authorizer: NodeAuthorizer, verb: str, resource: str, name: str, sub: str = "") -> bool:
    return authorizer.authorize(NODE, resource_question(verb, "", resource, name, "n", sub)).allowed


def test_a_node_reaches_what_its_pods_need_and_nothing_else() -> None:
    secret: Any = {"volumes": [{"name": "v", "secret": {"secretName": "s"}}], "serviceAccountName": "a"}
    reader = StaticReader(
        [pod("mine", "here", **secret), pod("theirs", "there", volumes=[{"name": "v", "configMap": {"name": "c"}}])]
    )
    authorizer = NodeAuthorizer(reader)
    assert may(authorizer, "get", "secrets", "s")
    assert may(authorizer, "watch", "secrets", "s")
    assert not may(authorizer, "update", "secrets", "s")
    assert not may(authorizer, "get", "configmaps", "c")
    assert may(authorizer, "create", "serviceaccounts", "a", "token")
    assert may(authorizer, "get", "pods", "mine")
    assert not may(authorizer, "get", "pods", "theirs")


def test_a_right_ends_with_the_pod_that_justified_it_unless_another_does_too() -> None:
    env = [{"name": "c", "envFrom": [{"secretRef": {"name": "s"}}]}]
    reader = StaticReader([pod("one", "here", containers=env), pod("two", "here", containers=env)])
    authorizer = NodeAuthorizer(reader)
    assert may(authorizer, "get", "secrets", "s")
    for name in ("one", "two"):  # the pods move away one after the other
        reader.put(pod(name, "there", uid="2", containers=env))
        assert may(authorizer, "get", "secrets", "s") is (name == "one")
    reader.put(pod("one", "here", uid="3"))  # the same name again, without the need
    assert not may(authorizer, "get", "secrets", "s")


def test_a_mirror_pod_gives_its_node_nothing() -> None:
    mirror = pod("static", "here", serviceAccountName="a")
    mirror["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    assert not may(NodeAuthorizer(StaticReader([mirror])), "create", "serviceaccounts", "a", "token")


def test_a_volume_leads_to_the_node_through_its_claim() -> None:
    claimed = pod("p", "here", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    csi = {"driver": "d", "nodePublishSecretRef": {"name": "s", "namespace": "n"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}}
    volume["spec"] = {"claimRef": {"namespace": "n", "name": "c"}, "csi": csi}
    authorizer = NodeAuthorizer(StaticReader([claimed, volume]))
    assert may(authorizer, "get", "persistentvolumeclaims", "c")
    assert authorizer.authorize(NODE, resource_question("get", "", "persistentvolumes", "pv")).allowed
    assert may(authorizer, "get", "secrets", "s")


def test_pods_may_be_listed_by_node_only() -> None:
    authorizer = NodeAuthorizer(StaticReader())
    listing = RequestInfo(True, "", "list", resource="pods", field_selector="spec.nodeName=here")
    assert authorizer.authorize(NODE, listing).allowed
    for selector in ("", "spec.nodeName=there", "spec.nodeName!=here", "metadata.name=x"):
        listing = RequestInfo(True, "", "list", resource="pods", field_selector=selector)
        assert not authorizer.authorize(NODE, listing).allowed


# -- the bootstrap policy ---------------------------------------------------------------------------------------------

ONLY_IN_THE_RECORDED_BUILD = {"system:controller:service-ca-cert-publisher"}
"""A controller of a Kubernetes distribution: its role is not among upstream's."""


def test_the_default_objects_are_the_recorded_ones() -> None:
    def key(obj: Object) -> tuple[str, str, str]:
        return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]

    def essence(obj: Object) -> Object:
        meta = {k: obj["metadata"][k] for k in ("name", "namespace", "labels", "annotations") if k in obj["metadata"]}
        filled_in = {"rules": None} if "aggregationRule" in obj else {}
        return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": meta, **filled_in}

    recorded = {
        key(obj): essence(obj)
        for obj in recorded_policy("kind-1.36.2")
        if "kubernetes.io/bootstrapping" in (obj["metadata"].get("labels") or {})
    }
    for exchange in exchanges("objects"):
        if any(word in exchange["path"] for word in ("flowcontrol", "priorityclasses")):
            answer = exchange["response"]
            for item in answer["items"]:
                obj = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List"), **item}
                recorded[key(obj)] = essence(obj)
    ours = {key(obj): obj for obj in bootstrap_objects()}
    assert {name for _, _, name in recorded.keys() ^ ours.keys()} == ONLY_IN_THE_RECORDED_BUILD
    assert {k: v for k, v in recorded.items() if k in ours} == ours


def test_every_cluster_has_rules_for_nodes_and_four_namespaces() -> None:
    assert node_rules()
    assert [namespace["metadata"]["name"] for namespace in system_namespaces()] == [
        "default", "kube-node-lease", "kube-public", "kube-system",
    ]  # fmt: skip


def test_a_review_s_extra_may_be_null() -> None:
    assert user_from({"user": "jane", "extra": {"E": None, "a": ["b"]}}).extra == {"e": (), "a": ("b",)}


def test_a_binding_is_put_into_words_only_for_whom_it_lets_in(monkeypatch: pytest.MonkeyPatch) -> None:
    role = {"kind": "ClusterRole", "name": "all", "apiGroup": "rbac.authorization.k8s.io"}
    rule = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
    names = [f"u{number}" for number in range(1_000)]
    head = {"apiVersion": "rbac.authorization.k8s.io/v1"}
    objects = [
        {**head, "kind": "ClusterRole", "metadata": {"name": "all"}, "rules": [rule]},
        {
            **head,
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "crowd"},
            "roleRef": role,
            "subjects": [{"kind": "User", "name": name} for name in names],
        },
    ]
    worded: list[str] = []
    describe = rbac._describe

    def noted(binding: Object, role_ref: Object, subject: Object, namespace: str) -> str:
        worded.append(subject["name"])
        return describe(binding, role_ref, subject, namespace)

    monkeypatch.setattr(rbac, "_describe", noted)
    authorizer = RBACAuthorizer(StaticReader(objects))
    info = RequestInfo(path="/api/v1/pods", verb="list", resource="pods", version="v1", is_resource_request=True)
    verdict = authorizer.authorize(UserInfo("u7"), info)
    assert verdict.reason == 'RBAC: allowed by ClusterRoleBinding "crowd" of ClusterRole "all" to User "u7"'
    assert worded == ["u7"]
