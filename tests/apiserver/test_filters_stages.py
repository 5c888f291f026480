"""The single stages: impersonation, flow control, CORS, warnings, the in-flight limit."""

from __future__ import annotations

import asyncio
import re

import pytest

from lifecycle.api.go.duration import parse_duration
from lifecycle.api.http.wire import MASTERS, Object, Request, RequestInfo, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authz.authorizer import Decision, UserRules, Verdict
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.filters.cors import check_allowed_origins, with_cors
from lifecycle.apiserver.filters.impersonation import process_impersonation_headers
from lifecycle.apiserver.filters.impersonation_mode import impersonated_user, wrong_with_extra
from lifecycle.apiserver.filters.max_in_flight import with_max_in_flight_limit
from lifecycle.apiserver.filters.shutdown import with_retry_after
from lifecycle.apiserver.filters.warning import warning_headers
from lifecycle.apiserver.http.headers import joined_headers
from lifecycle.apiserver.storage.object_reader import StaticReader
from tests.apiserver.recorded_exchanges import RBAC

# -- impersonation ----------------------------------------------------------------------------------------------------


def granting(*rules: Object) -> RBACAuthorizer:
    """RBAC under which `boss` has some rules."""
    meta = {"name": "r"}
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": list(rules)}
    binding: Object = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": meta}
    binding |= {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "User", "name": "boss"}]}
    return RBACAuthorizer(StaticReader([role, binding]))


def rule(verbs: str, group: str, resources: str, *names: str) -> Object:
    named = {"resourceNames": list(names)} if names else {}
    return {"verbs": [verbs], "apiGroups": [group], "resources": [resources], **named}


LIST_PODS = RequestInfo(True, "/api/v1/pods", "list", version="v1", resource="pods")
BOSS = UserInfo("boss")
AUTHN = "authentication.k8s.io"


def test_the_old_way_is_one_verb_for_each_part_of_the_identity() -> None:
    wanted = UserInfo("jane", ("devs",), "7", {"scopes": ("view",)})
    parts = [
        rule("impersonate", "", "users", "jane"),
        rule("impersonate", "", "groups", "devs"),
        rule("impersonate", AUTHN, "uids", "7"),
        rule("impersonate", AUTHN, "userextras/scopes", "view"),
    ]
    user, constraint = asyncio.run(impersonated_user(granting(*parts), BOSS, wanted, LIST_PODS))
    assert user == UserInfo("jane", ("devs", "system:authenticated"), "7", {"scopes": ("view",)})
    assert constraint == ""
    for missing in parts:
        with pytest.raises(StatusError):
            asyncio.run(
                impersonated_user(granting(*(part for part in parts if part is not missing)), BOSS, wanted, LIST_PODS)
            )


def test_the_constrained_way_needs_both_halves() -> None:
    on, who = rule("impersonate-on:user-info:list", "", "pods"), rule("impersonate:user-info", AUTHN, "users", "jane")
    user, constraint = asyncio.run(impersonated_user(granting(on, who), BOSS, UserInfo("jane"), LIST_PODS))
    assert (user.name, constraint) == ("jane", "impersonate:user-info")
    with pytest.raises(
        StatusError,
        match=r'pods is forbidden: User "boss" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope$',
    ):
        asyncio.run(impersonated_user(granting(who), BOSS, UserInfo("jane"), LIST_PODS))
    with pytest.raises(
        StatusError,
        match=r'users\.authentication\.k8s\.io "jane" is forbidden: User "boss" cannot impersonate:user-info '
        r'resource "users" in API group "authentication\.k8s\.io" at the cluster scope$',
    ):
        asyncio.run(impersonated_user(granting(on), BOSS, UserInfo("jane"), LIST_PODS))


def test_nodes_and_accounts_have_modes_and_groups_of_their_own() -> None:
    node = UserInfo("system:node:n")
    rules = [
        rule("impersonate-on:arbitrary-node:list", "", "pods"),
        rule("impersonate:arbitrary-node", AUTHN, "nodes", "n"),
    ]
    user, _ = asyncio.run(impersonated_user(granting(*rules), BOSS, node, LIST_PODS))
    assert user.groups == ("system:nodes", "system:authenticated")
    account = UserInfo("system:serviceaccount:a:b")
    rules = [
        rule("impersonate-on:serviceaccount:list", "", "pods"),
        rule("impersonate:serviceaccount", AUTHN, "serviceaccounts", "b"),
    ]
    user, _ = asyncio.run(impersonated_user(granting(*rules), BOSS, account, LIST_PODS))
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated")


class Asked:
    """An authorizer that allows some questions, and remembers all."""

    def __init__(self, *allowed: str) -> None:
        self.allowed = {*allowed, "impersonate-on:user-info:list", "users bob"}
        self.questions: list[str] = []

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        what = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        asked = info.verb if info.verb.startswith("impersonate-on") else f"{what} {info.name}".strip()
        if info.verb == "impersonate":  # the old way is another test's
            return Verdict(Decision.DENY)
        self.questions.append(asked)
        return Verdict(Decision.ALLOW if asked in self.allowed else Decision.DENY)

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        return UserRules()


FOUR = ("a", "b", "c", "d")
TAGS = {"acme.io/a": ("1", "2"), "acme.io/b": ("3", "4")}


@pytest.mark.parametrize(
    ("wanted", "allowed", "asked"),
    [
        (UserInfo("bob", FOUR), ["groups *"], ["groups *"]),
        (UserInfo("bob", FOUR), [f"groups {g}" for g in FOUR], ["groups *", *(f"groups {g}" for g in FOUR)]),
        (UserInfo("bob", FOUR[:3]), [f"groups {g}" for g in "abc"], [f"groups {g}" for g in "abc"]),
        (UserInfo("bob", (), "", TAGS), ["userextras/* *"], ["userextras/* *"]),
        (
            UserInfo("bob", (), "", {"acme.io/a": ("1", "2", "3")}),
            [f"userextras/acme.io/a {n}" for n in "123"],
            [f"userextras/acme.io/a {n}" for n in "123"],
        ),
    ],
)
def test_for_many_groups_or_extras_it_is_first_asked_whether_any_would_do(
    wanted: UserInfo, allowed: list[str], asked: list[str]
) -> None:
    """As in upstream's `constrained_impersonation_test.go`."""
    authorizer = Asked(*allowed)
    user, constraint = asyncio.run(impersonated_user(authorizer, BOSS, wanted, LIST_PODS))
    assert (user.name, constraint) == ("bob", "impersonate:user-info")
    assert authorizer.questions == ["impersonate-on:user-info:list", "users bob", *asked]


@pytest.mark.parametrize(
    ("extra", "wrong"),
    [
        ({"acme.io/team": ("a",)}, ""),
        ({"": ("a",)}, "impersonating the empty string key in extra is not allowed"),
        (
            {"scopes": ("a",)},
            'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": '
            'must be a domain-prefixed path (such as "acme.io/foo")',
        ),
        ({"acme.io/Team": ("a",)}, 'impersonating a non-lowercase key in extra is not allowed: "acme.io/Team"'),
        ({"acme.io/team": ()}, "impersonating empty values in extra is not allowed"),
        ({"acme.io/team": ("a", "")}, "impersonating the empty string value in extra is not allowed"),
    ],
)
def test_the_constrained_way_is_strict_about_extras(extra: dict[str, tuple[str, ...]], wrong: str) -> None:
    assert wrong_with_extra(extra) == wrong
    if wrong:
        with pytest.raises(StatusError, match=re.escape(wrong) + "$"):
            asyncio.run(impersonated_user(Asked(), BOSS, UserInfo("bob", (), "", extra), LIST_PODS))


def test_a_constrained_impersonator_never_becomes_a_master() -> None:
    rules = [rule("impersonate-on:user-info:list", "", "pods"), rule("impersonate:user-info", AUTHN, "*")]
    with pytest.raises(StatusError, match=r"impersonating the system:masters group is not allowed$"):
        asyncio.run(impersonated_user(granting(*rules), BOSS, UserInfo("jane", (MASTERS,)), LIST_PODS))


def test_an_associated_node_is_the_one_the_accounts_token_names() -> None:
    on = rule("impersonate-on:associated-node:list", "", "pods")
    who = rule("impersonate:associated-node", AUTHN, "nodes", "*")
    authorizer = granting(on, who)
    agent = UserInfo("system:serviceaccount:n:agent", extra={"authentication.kubernetes.io/node-name": ("here",)})
    binding = StaticReader()
    meta = {"name": "r"}
    binding.put({"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": meta, "rules": [on, who]})
    subjects = [{"kind": "ServiceAccount", "name": "agent", "namespace": "n"}]
    ref = {"kind": "ClusterRole", "name": "r"}
    binding.put(
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": meta,
            "roleRef": ref,
            "subjects": subjects,
        }
    )
    authorizer = RBACAuthorizer(binding)
    user, constraint = asyncio.run(impersonated_user(authorizer, agent, UserInfo("system:node:here"), LIST_PODS))
    assert (user.name, constraint) == ("system:node:here", "impersonate:associated-node")
    with pytest.raises(StatusError):
        asyncio.run(impersonated_user(authorizer, agent, UserInfo("system:node:there"), LIST_PODS))


def test_headers_say_whom_to_be_and_a_group_alone_is_an_error() -> None:
    lines = [
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Extra-A%2fb", "c"),
    ]
    assert process_impersonation_headers(joined_headers(lines)) == UserInfo("jane", ("a", "b"), "", {"a/b": ("c",)})
    assert process_impersonation_headers({"accept": "x"}) is None
    with pytest.raises(StatusError) as refused:
        process_impersonation_headers({"impersonate-group": "a"})
    assert refused.value.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} '
        "without impersonating a user name"
    )


# -- the plain limit -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reads", "writes", "asked", "codes"),
    [
        (1, 1, "list list create update", [200, 429, 200, 429]),
        (1, 1, "list list:boss list watch watch", [200, 200, 429, 200, 200]),
        (0, 1, "list list get create delete", [200, 200, 200, 200, 429]),
        (2, 0, "create update get list get", [200, 200, 200, 200, 429]),
        (0, 0, "list create", [200, 200]),
    ],
)
def test_the_plain_limit_counts_reads_and_writes_apart(reads: int, writes: int, asked: str, codes: list[int]) -> None:
    """As upstream's `maxinflight_test.go`: 0 is no limit, streams are not counted, masters always get through."""

    async def main() -> None:
        async def slow(request: Request) -> Response:
            await asyncio.sleep(1)
            return Response(obj={})

        handler = with_max_in_flight_limit(slow, max_requests=reads, max_mutating=writes)

        def ask(what: str) -> asyncio.Future[Response]:
            verb, _, name = what.partition(":")
            user = UserInfo("boss", (MASTERS,)) if name else UserInfo("jane")
            info = RequestInfo(True, "/api/v1/nodes", verb, version="v1", resource="nodes")
            return asyncio.ensure_future(handler(Request("GET", "/", user=user, info=info)))

        for _ in range(2):  # every place is given back
            answers = [await task for task in [ask(what) for what in asked.split()]]
            assert [answer.status for answer in answers] == codes
            assert {answer.headers.get("Retry-After") for answer in answers if answer.status == 429} <= {"1"}

    run_virtual(main())


# -- small ones -------------------------------------------------------------------------------------------------------


async def plain(request: Request) -> Response:
    return Response(obj={})


EXAMPLES = ("http://example.com", "example.com")
STRANGERS = ("http://example.com.hacker.org", "http://example.com.hacker.org:8080")


@pytest.mark.parametrize(
    ("patterns", "origins", "allowed"),
    [
        ((), EXAMPLES, False),
        (("example.com",), ("",), False),
        (("example.com",), EXAMPLES, True),
        (("example.com",), ("http://not-allowed.com", "not-allowed.com"), False),
        (("not-matching.com", "example.com"), EXAMPLES, True),
        ((".*",), EXAMPLES, True),
        (("example.com",), STRANGERS, True),
        (("//example.com(:|$)",), STRANGERS, False),
        (("//example.com(:|$)",), ("http://example.com", "https://example.com:8443"), True),
    ],
)
def test_browsers_are_answered_only_for_allowed_origins(
    patterns: tuple[str, ...], origins: tuple[str, ...], allowed: bool
) -> None:
    """The cases of upstream's `cors_test.go`; the server is asked in any case, but for a preflight."""
    assert with_cors(plain, ()) is plain
    handler = with_cors(plain, patterns)
    for origin in origins:
        response = run_virtual(handler(Request("GET", "/version", headers={"origin": origin})))  # type: ignore[arg-type]
        assert response.status == 200
        headers = {key: value for key, value in response.headers.items() if key.startswith("Access-Control-")}
        assert bool(headers) is allowed
        assert not allowed or headers == {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": "POST, GET, OPTIONS, PUT, DELETE, PATCH",
            "Access-Control-Allow-Headers": "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, "
            "X-Requested-With, If-Modified-Since",
            "Access-Control-Expose-Headers": "Date",
            "Access-Control-Allow-Credentials": "true",
        }
        preflight = run_virtual(handler(Request("OPTIONS", "/version", headers={"origin": origin})))  # type: ignore[arg-type]
        assert preflight.status == (204 if allowed else 200)


def test_a_server_does_not_start_with_origins_that_let_in_others() -> None:
    check_allowed_origins([r"//example\.com(:|$)", r"^https://example\.com$", "//x:"])
    for patterns, why in (
        (["example.com"], "regular expression does not pin to start/end of host in the origin header"),
        (["^example.com"], "does not pin"),
        (["example.com$"], "does not pin"),
        (["//("], "--cors-allowed-origins has an invalid regular expression: error parsing regexp: "),
        ([""], "^empty value in --cors-allowed-origins, help: List of allowed origins for CORS"),
        (["x", ""], r"^\[--cors-allowed-origins has .*, empty value in "),
    ):
        with pytest.raises(ValueError, match=why):
            check_allowed_origins(patterns)


@pytest.mark.parametrize(
    ("going", "path", "agent", "status"),
    [
        (False, "/api/v1/pods", "kubectl/1.36", 200),
        (True, "/api/v1/pods", "kubectl/1.36", 429),
        (True, "/metrics", "", 200),
        (True, "/livez?verbose", "", 200),
        (True, "/readyz", "", 200),
        (True, "/healthz", "", 200),
        (True, "/debug/pprof", "", 429),
        (True, "/version", "", 429),
        (True, "/api/v1/pods", "kube-apiserver/v1.36.2", 200),
    ],
)
def test_who_comes_while_the_server_goes_is_sent_elsewhere(going: bool, path: str, agent: str, status: int) -> None:
    """The cases of upstream's `with_retry_after_test.go`."""
    assert with_retry_after(plain, None) is plain
    handler = with_retry_after(plain, lambda: going)
    response = run_virtual(handler(Request("GET", path, headers={"user-agent": agent})))  # type: ignore[arg-type]
    assert response.status == status
    found = response.headers.get("Connection"), response.headers.get("Retry-After")
    assert found == (("close", "5") if status == 429 else (None, None))
    assert status == 200 or response.body == b"The apiserver is shutting down, please try again later.\n"


def test_warnings_are_quoted_once_each_and_cut_when_there_are_too_many() -> None:
    """The cases of upstream's `warning_test.go`."""
    assert warning_headers(['say "hi"', "b\\c", 'say "hi"', "", "new\nline", "no\u00a0break"]) == [
        '299 - "say \\"hi\\""',
        '299 - "b\\\\c"',
        '299 - "no\u00a0break"',
    ]
    some = ["a" * 10, "a" * 10, "bb", "ccc", "Iñtërnâtiô"]
    kept = ["a" * 10, "bb", "ccc", "Iñtërnâtiô"]
    assert warning_headers(some, 25, 5) == [f'299 - "{text}"' for text in kept]
    more = [*some, "e", "f" * 10, "f" * 10, "g" * 10, "h"]
    cut = ["aaaaa", "bb", "ccc", "Iñtër", "e", "fffff", "ggggg"]
    assert warning_headers(more, 25, 5) == [f'299 - "{text}"' for text in cut]
    assert len(warning_headers([f"{number:08}" for number in range(1000)])) == 513


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("1m30s", 90),
        ("1.5h", 5400),
        ("100ms", 0.1),
        ("0", 0),
        ("-1s", -1),
        (".5s", 0.5),
        ("+5s", 5),
        ("1.s", 1),
        ("3µs", 3e-6),
    ],
)
def test_go_durations_are_understood(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'invalid duration ""'),
        ("5", 'missing unit in duration "5"'),
        ("x", 'invalid duration "x"'),
        ("foo", 'invalid duration "foo"'),
        ("1s2", 'missing unit in duration "1s2"'),
        ("1 s", 'unknown unit " s" in duration "1 s"'),
        ("1d", 'unknown unit "d" in duration "1d"'),
        ("-", 'invalid duration "-"'),
        (".s", 'invalid duration ".s"'),
        ("00", 'missing unit in duration "00"'),
        ('1"', 'unknown unit "\\"" in duration "1\\""'),
    ],
)
def test_other_durations_are_refused_in_gos_words(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^time: {re.escape(why)}$"):
        parse_duration(text)
