"""Claims about what happens to a request inside the API server, put to real API servers
(`generators/programs/api_server.py`).
"""

from __future__ import annotations

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.controllers.manager import CONTROLLERS

CHAIN = {"NamespaceLifecycle", "ServiceAccount", "LimitRanger", "ResourceQuota"}
"""Plugins of which each was asked about a pod."""


@live("aggregation-layer-authenticates-and-authorizes")
def aggregation_authenticates(answers: ProgramAnswers) -> bool:
    """Nobody, a bad token and somebody without rights are answered before the other
    server hears of it.
    """
    codes = answers["aggregation/extension"]
    return bool(
        (codes["nobody"], codes["bad token"], codes["no rights"]) == (403, 401, 403)
        and codes["of these reached it"] == 0
    )


@live("aggregation-adds-further-apis")
def aggregation_adds(answers: ProgramAnswers) -> bool:
    """Not there before, and there with the APIService."""
    codes = answers["aggregation/extension"]
    return bool((codes["before"], codes["administrator"]) == (404, 200))


@live("authn-authorization-header-removed")
def header_removed(answers: ProgramAnswers) -> bool:
    """The server behind the aggregation layer gets the request without it."""
    arrived = answers["aggregation/what-arrives"]
    assert arrived["user"], "it arrived"
    return not arrived["authorization header"]


@live("authn-user-stored-in-request-context")
def user_in_context(answers: ProgramAnswers) -> bool:
    """Whom the first filter recognised, the last handler passes on by name."""
    return bool(
        answers["aggregation/what-arrives"]["user"]
        == "system:serviceaccount:extension:default"
    )


@live("admission-enabled-by-server-flag")
def enabled_by_flag(answers: ProgramAnswers) -> bool:
    """Without a flag none would run."""
    return answers["admission/no-flag"] != {"status": 404, "reason": "NotFound"}


@live("admission-named-plugins-form-a-chain")
def plugins_form_a_chain(answers: ProgramAnswers) -> bool:
    """One create, and the counts of all of them have grown."""
    chain = answers["admission/chain"]
    return bool(chain["status"] == 201 and set(chain["plugins"]) >= CHAIN)


@live("admission-rejected-object-not-persisted")
def rejected_is_not_stored(answers: ProgramAnswers) -> bool:
    """What was refused is not found; what was not, is."""
    return bool(
        answers["admission/rejected-is-not-stored"]
        == {"greedy": 404, "two": 404, "one": 200}
    )


@live("admission-registry-allow-list-possible")
def one_registry(answers: ProgramAnswers) -> bool:
    """A policy of one expression does it."""
    return bool(
        answers["admission/one-registry"]
        == {"nginx": 422, "registry.example/nginx": 201}
    )


@live("admission-quota-counts-objects")
def quota_counts(answers: ProgramAnswers) -> bool:
    """One pod and no second one; no load balancer, no replication controller."""
    codes = answers["admission/quota"]
    objects = ("a second pod", "a load balancer", "a replication controller")
    return codes["one pod"] == 201 and {codes[each] for each in objects} == {403}


@live("admission-quota-limits-compute-and-storage")
def quota_limits(answers: ProgramAnswers) -> bool:
    """Too much CPU and too much storage are refused, less is not."""
    codes = answers["admission/quota"]
    return bool(
        codes["one pod"] == 201
        and {codes["too much CPU"], codes["too much storage"]} == {403}
    )


@live("authn-admission-loaded-by-controller-manager")
def loaded_by_controller_manager(answers: ProgramAnswers) -> bool:
    """It would have to know of plugins. (A controller that writes the status of
    admission policies is none.) What it knows are controllers, ours among them.
    """
    assert set(CONTROLLERS) <= set(answers["flags/controllers"])
    assert "NamespaceLifecycle" in answers["flags/admission-plugins"]
    return any(
        "admission-plugins" in name for name in answers["flags/kube-controller-manager"]
    )


@live("etcd-get-after-create")
def get_after_create(answers: ProgramAnswers) -> bool:
    """A second request to etcd would have been counted."""
    after = answers["storage/after-create"]
    assert after["grown"].get("create") == 1, "it was made"
    return len(after["grown"]) > 1


@live("etcd-key-layout-configurable")
def key_layout(answers: ProgramAnswers) -> Partly:
    """The root is what a flag says; below it the same as ever."""
    (key,) = answers["storage/etcd-prefix"]
    return Partly(
        key.startswith("/elsewhere/"),
        key.removeprefix("/elsewhere") == "/configmaps/default/key",
    )


@live("initializers-hide-object-until-finished")
def hides_objects(answers: ProgramAnswers) -> bool:
    """An object with a pending initializer would be invisible."""
    pending = answers["initializers/pending"]
    return pending["kept"] or not pending["visible at once"]


@live("initializers-none-configured-means-visible")
def conditionally_visible(answers: ProgramAnswers) -> bool:
    """There would have to be a way of configuring some."""
    return "initializerconfigurations" in _offered(answers)


@live("initializers-are-controllers-with-custom-logic")
def controllers_with_logic(answers: ProgramAnswers) -> bool:
    """They would be named in an object's metadata."""
    pending = answers["initializers/pending"]
    assert pending["not strict"] == 201, "it was made"
    return pending["kept"] or not pending["unknown field"]


@live("initializers-run-in-sequence-and-remove-themselves")
def run_in_sequence(answers: ProgramAnswers) -> bool:
    """The list that they shorten would have to be kept."""
    return bool(answers["initializers/pending"]["kept"]) or bool(
        answers["initializers/configurations"]["kept"]
    )


@live("initializers-block-scheduling-until-finished")
def block_scheduling(answers: ProgramAnswers) -> bool:
    """A pod would keep its pending initializers, for the scheduler to see."""
    answer = answers["initializers/configurations"]
    assert answer["pod"] == 201, "it was made"
    return bool(answer["kept"])


@live("initializers-include-uninitialized-parameter")
def include_uninitialized(answers: ProgramAnswers) -> bool:
    """With it one would see more."""
    pending = answers["initializers/pending"]
    assert pending["visible at once"], "there is something to see"
    return bool(pending["the parameter makes a difference"])


def _offered(answers: ProgramAnswers) -> list[str]:
    resources: list[str] = answers["initializers/configurations"]["resources"]
    assert "mutatingwebhookconfigurations" in resources, "the group is served"
    return resources
