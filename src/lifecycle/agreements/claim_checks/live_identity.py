"""Claims about authentication and authorization, put to real API servers with various
flags (`generators/programs/identity.py`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers

ROBOT = "system:serviceaccount:robots:default"
READS = "jane gets pods"
METRICS = "somebody whom RBAC allows gets /metrics"


@live("authn-client-ca-adds-x509")
def client_ca(answers: ProgramAnswers) -> bool:
    """With the flag a certificate is somebody, without it nobody's."""
    return (
        answers["authn/who"]["a certificate"] == "joe"
        and answers["authn/no-client-ca"]["a certificate"] == "401"
        and answers["authn/no-client-ca"]["jane's token"] == "jane"
    )


@live("authn-union-first-success-wins")
def first_success(answers: ProgramAnswers) -> bool:
    """A good certificate counts beside a token, good or bad; a bad one leaves it to the
    token.
    """
    who = answers["authn/who"]
    return (
        who["a certificate and jane's token"] == "joe"
        and who["a certificate and a bad token"] == "joe"
        and who["such a certificate and jane's token"] == "jane"
    )


@live("authn-all-fail-aggregate-error")
def all_fail(answers: ProgramAnswers) -> Partly:
    """The log names several errors for one request, of which its sender is told none;
    who shows nothing at all is let through as nobody.
    """
    failed = answers["authn/all-fail"]
    return Partly(
        failed["errors in the log"] > 1,
        (failed["status"], failed["message"]) == (401, "Unauthorized")
        and answers["authn/who"]["nothing"] == "403 system:anonymous",
    )


@live("authn-x509-verifies-against-client-ca")
def verifies_certificates(answers: ProgramAnswers) -> Partly:
    """Of two certificates that the TLS layer took, only the one of its CA is somebody:
    the subject in it, not anything in the request.
    """
    who = answers["authn/who"]
    return Partly(
        who["a certificate"] == "joe",
        who["a certificate of another CA"] == "401"
        and who["such a certificate and jane's token"] == "jane",
    )


@live("authn-static-token-file")
def static_tokens(answers: ProgramAnswers) -> Partly:
    """A token of the file is good, another is not; a service account's token stands in
    no file and is good, too.
    """
    who = answers["authn/who"]
    return Partly(
        who["jane's token"] == "jane" and who["a bad token"] == "401",
        who["a service account's token"] == ROBOT,
    )


@live("authn-cors-and-timeout-run-later")
def cors_and_timeout(answers: ProgramAnswers) -> bool:
    """A bad token would be refused before either."""
    before = answers["authn/what-comes-before"]
    assert before["GET"] == 401, "the token is bad"
    return not (
        before["OPTIONS"] == 204
        and before["allowed origin"]
        and before["impossible timeout"] == 400
    )


@live("authz-chain-built-from-config")
def chain_from_configuration(answers: ProgramAnswers) -> Partly:
    """Modes named by a flag decide one after the other; a configuration file is read
    again while the server runs.
    """
    webhook = answers["authz/webhook"]
    return Partly(
        webhook["jane, whom it allows, gets pods"] == 200
        and webhook["ann, whom only RBAC allows, gets /metrics"] == 200,
        answers["authz/configuration"] == {"before": 403, "after": 200},
    )


@live("authz-all-deny-gives-forbidden")
def all_deny(answers: ProgramAnswers) -> Partly:
    """If no mode has an opinion, it is forbidden; but one denial is enough, even if
    another mode would allow.
    """
    webhook = answers["authz/webhook"]
    return Partly(
        webhook["jane, of whom nobody has an opinion, gets /metrics"] == 403,
        webhook["joe, whom it denies and RBAC would allow, gets /metrics"] == 403
        and webhook["ann, whom only RBAC allows, gets /metrics"] == 200,
    )


@live("authz-allow-all-and-deny-all-modes")
def allow_all_and_deny_all(answers: ProgramAnswers) -> Partly:
    """There are modes that do so, alone; but not under these names, and beside RBAC the
    second one blocks nothing.
    """
    modes = answers["authz/modes"]
    return Partly(
        set(_reads(modes, "AlwaysAllow")) == {200}
        and set(_reads(modes, "AlwaysDeny")) == {403},
        answers["authz/unknown-mode"] is False
        and modes["AlwaysDeny,RBAC"][METRICS] == 200,
    )


def _reads(modes: dict[str, Any], mode: str) -> tuple[int, int]:
    return modes[mode][READS], modes[mode][METRICS]


@live("authz-webhook-asks-external-service")
def webhook_is_asked(answers: ProgramAnswers) -> bool:
    """It was asked about all three, and what it allows is allowed."""
    return (
        answers["authz/webhook-asked"] == ["ann", "jane", "joe"]
        and answers["authz/webhook"]["jane, whom it allows, gets pods"] == 200
    )


@live("authz-abac-static-file")
def abac_file(answers: ProgramAnswers) -> bool:
    """What a line of it says may be done, and nothing else."""
    modes = answers["authz/modes"]
    return bool(
        modes["ABAC"][READS] == 200 and modes["ABAC"]["jane makes a ConfigMap"] == 403
    )


@live("authz-rbac-reads-roles-through-informers")
def roles_through_informers(answers: ProgramAnswers) -> bool:
    """A new role counts without a single read, and all four kinds are watched."""
    roles = answers["authz/roles"]
    return (roles["before"], roles["after"], roles["reads"]) == (403, 200, 0) and roles[
        "watches"
    ] == ["clusterrolebindings", "clusterroles", "rolebindings", "roles"]


@live("authz-node-authorizer-needs-cluster-state")
def node_needs_state(answers: ProgramAnswers) -> bool:
    """A Secret is a kubelet's as soon as, and only if, a pod of its node uses it."""
    return bool(answers["authz/node"] == {"before": 403, "after": 200, "another": 403})
