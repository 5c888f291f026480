"""Claims about controllers and ownership, put to a real controller manager
(`generators/programs/controllers.py`).
"""

from __future__ import annotations

from lifecycle.compare.claims import Partly, live
from lifecycle.compare.program_answers import ProgramAnswers

BURST_REPLICAS = 500


@live("informers-reads-hit-a-local-cache")
def reads_hit_the_cache(answers: ProgramAnswers) -> bool:
    """Hundreds of pods made and counted, and no controller listed or read one."""
    reads = answers["informers/reads"]
    assert reads["more than 600 creates"], "there was work to do"
    return (reads["lists"], reads["gets of pods"]) == (0, 0)


@live("deployment-controller-informer-callbacks")
def callbacks(answers: ProgramAnswers) -> bool:
    """A line in its log for each of the three."""
    return set(answers["deployments/callbacks"].values()) == {True}


@live("deployment-controller-uses-work-queue-and-sync")
def queue_and_sync(answers: ProgramAnswers) -> bool:
    """One key at a time: each sync of a Deployment ends before the next begins."""
    return bool(answers["deployments/syncs"]["one after the other"])


@live("deployment-controller-reconciles-towards-spec")
def reconciles(answers: ProgramAnswers) -> bool:
    """What somebody deletes is made again."""
    return bool(answers["deployments/reconciled"] == 2)


@live("deployment-controller-finds-children-by-label-selector")
def finds_children(answers: ProgramAnswers) -> bool:
    """It would have to list them."""
    requests = answers["deployments/requests"]
    assert "create replicasets" in requests, "there was work to do"
    return any(each.startswith("list ") for each in requests)


@live("deployment-controller-waits-in-a-loop-for-completion")
def waits_in_a_loop(answers: ProgramAnswers) -> Partly:
    """It comes back to a Deployment that is not complete; but each sync ends."""
    syncs = answers["deployments/syncs"]
    return Partly(syncs["more than twice"], syncs["one after the other"])


@live("deployment-controller-cleans-up-old-replicasets")
def cleans_up(answers: ProgramAnswers) -> bool:
    """Of four, the newest and one before it."""
    return bool(answers["deployments/history"] == ["nginx:3", "nginx:4"])


@live("replicaset-controller-reacts-to-replicaset-and-pod-events")
def reacts(answers: ProgramAnswers) -> bool:
    """A deleted pod is replaced, by another one of the same set."""
    return bool(
        answers["owners/replacement"] == {"owners": ["one", "two"], "another": True}
    )


@live("replicaset-controller-burst-count-always-matched")
def burst(answers: ProgramAnswers) -> Partly:
    """No sync makes more than so many; the last one makes fewer."""
    first, *rest = answers["replicas/burst"]
    return Partly(first == BURST_REPLICAS, bool(rest) and max(rest) < BURST_REPLICAS)


@live("replicaset-controller-slow-start-batches")
def slow_start(answers: ProgramAnswers) -> bool:
    """One before the first answer, two more before the next, four more before the last
    of those.
    """
    return bool(
        answers["replicas/batches"]
        == {"before the 1st answer": 1, "before the 2nd": 3, "before the 4th": 7}
    )


@live("replicaset-controller-slow-start-limits-failing-creates")
def slow_start_limits(answers: ProgramAnswers) -> bool:
    """After one, two and four attempts, all of the last four refused, it stops."""
    return bool(
        answers["replicas/quota"]
        == {"made": 3, "refused": 4, "attempts below twenty": True}
    )


@live("garbage-collection-owner-reference-prevents-fights")
def no_fights(answers: ProgramAnswers) -> bool:
    """Two sets with one selector, one pod each."""
    return bool(answers["owners/beside"] == ["one", "two"])


@live("garbage-collection-topology-survives-controller-restart")
def survives_restart(answers: ProgramAnswers) -> bool:
    """The same pods, the same owner."""
    return bool(answers["owners/restart"] == {"pods": 3, "the same": True})


@live("garbage-collection-controllers-ignore-what-they-do-not-own")
def ignores(answers: ProgramAnswers) -> Partly:
    """What is another's is neither touched nor counted; what is nobody's is taken."""
    return Partly(
        answers["owners/beside"] == ["one", "two"],
        answers["owners/adoption"] == [["lost", "one"]],
    )


@live("garbage-collection-orphans-are-adopted")
def adoption(answers: ProgramAnswers) -> bool:
    """The pod that was there, and no other."""
    return bool(answers["owners/adoption"] == [["lost", "one"]])


@live("garbage-collection-adoption-race-has-one-winner")
def one_winner(answers: ProgramAnswers) -> bool:
    """A second controller is refused as invalid."""
    return bool(
        answers["owners/second-controller"] == {"status": 422, "reason": "Invalid"}
    )


@live("garbage-collection-cascading-delete")
def cascades(answers: ProgramAnswers) -> bool:
    """Deleted in the background: none of its pods is left."""
    return bool(answers["owners/deletion"]["of the second"] == 0)


@live("garbage-collection-orphan-policy-keeps-children")
def orphans(answers: ProgramAnswers) -> bool:
    """The pod of the set that was deleted with Orphan is still there."""
    return bool(answers["owners/deletion"]["orphan left"])
