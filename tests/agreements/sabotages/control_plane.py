"""What might go wrong with owners, quotas, endpoints and lists that several apply: rules of the garbage collector, of the
quota's plugin and its controller, of the controller of slices, of server-side apply, of the aggregator."""

from __future__ import annotations

from typing import Any

from lifecycle.agreements.apiserver.forwarded import forwarded_agreement
from lifecycle.agreements.apiserver.keyed_lists import keyed_list_agreement
from lifecycle.agreements.apiserver.new_objects import new_object_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.controllers.endpoint_slices import endpoint_slice_agreement
from lifecycle.agreements.controllers.ownership import ownership_agreement
from lifecycle.agreements.controllers.quotas import quota_agreement
from lifecycle.agreements.controllers.small_loops import small_loops_agreement
from tests.agreements.sabotages.api_server import server_answers
from tests.agreements.sabotages.judged import Answers, Judged, Sabotage, called, opened
from tests.claims.broken.breakage import Wrapped, constant, nothing

COLLECTOR = "controllers.garbagecollector.garbage_collector.GarbageCollector"
GRAPH = "controllers.garbagecollector.graph_builder.GraphBuilder"
NODE = "controllers.garbagecollector.graph.Node"
FIELDS = "apiserver.managedfields"
SLICES = "controllers.endpointslice"
COUNTING = "controllers.resourcequota.resource_quota_controller"


def notes(*texts: str) -> tuple[str, ...]:
    """Patterns of the rows with exactly these notes."""
    return tuple(f"^{text} \\| " for text in texts)


def always_in_the_background(real: Any) -> Any:
    return lambda self, identity, latest, policy: real(self, identity, latest, "Background")


def everything_blocks(self: Any) -> list[Any]:
    return list(self.dependents)


def first_come(_: str, values: list[Any]) -> list[Any]:
    return values


def without_protocol(real: Any) -> Any:
    def item_element(self: Any, item: Any) -> str:
        known = {k: v for k, v in item.items() if k != "protocol"} if isinstance(item, dict) else item
        return str(real(self, known))

    return item_element


def names_only(real: Any) -> Any:
    return lambda entry: real(entry).partition(" with")[0].partition(" using")[0]


CIRCLES = ("the circle", "is gone", "all", "three", "are gone")
IN_THE_END = "who is left in the end"
RESIZED = (r"^(is|and is) .*charged .*: counted-resized \| ", r"^the bill in the end: counted-resized \| ")

JUDGED = (
    Judged(
        "ownership_agreement",
        lambda: ownership_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "nobody is told that an owner is elsewhere",
                f"{GRAPH}._report_wrong_namespace",
                constant(None),
                notes("what is said of the one elsewhere"),
            ),
            Sabotage(
                "the collector deletes everything in the background",
                f"{COLLECTOR}._delete",
                Wrapped(always_in_the_background),
                notes("it waits for its own", "so this one stays", "it waits, as it always does", IN_THE_END),
                because="three dependents have dependents themselves, and each is to be deleted in another way",
            ),
            Sabotage(
                "no dependent blocks",
                f"{NODE}.blocking_dependents",
                constant([]),
                notes(
                    *("it waits", "it waits for its own", "it waits, too", "another wish, while it waits"),
                    "it waits, as it always does",
                    *("its dependent belongs to nobody, and is still on its way", "that one's owner does not yet"),
                    *("it waits for two", "it waits for one", IN_THE_END),
                ),
                because="each of these owners is waiting in the foreground",
            ),
            Sabotage(
                "every dependent blocks",
                f"{NODE}.blocking_dependents",
                everything_blocks,
                notes("waits for nobody", *CIRCLES, "and nothing is left", "it waits for nobody", IN_THE_END),
                because="whoever waits for those that do not block waits for ever",
            ),
            Sabotage(
                "circles are not broken",
                f"{COLLECTOR}._unblock_owner_references",
                nothing,
                notes(*CIRCLES, IN_THE_END),
                because="all of a circle wait for each other",
            ),
            Sabotage(
                "the uid alone says who the owner is",
                f"{GRAPH}._owner_reference_mismatch",
                constant(False),
                notes(
                    *("of a Secret that is none", "of a name that is none", "of an owner elsewhere"),
                    *("what is said of the one elsewhere", IN_THE_END),
                ),
                because="one comparison knows kind, name and namespace",
            ),
            Sabotage(
                "references stay in orphans, and in those whose second owner stays",
                f"{COLLECTOR}._delete_owner_references",
                nothing,
                notes(
                    *("kept by its second owner", "kept by the other owner", "nobody's now", "the other's now"),
                    *(
                        "an orphan",
                        "so this one stays",
                        "its dependent belongs to nobody, and is still on its way",
                        "and nothing is left",
                    ),
                    *("what becomes of the dependent of job", "what becomes of the dependent of rc", IN_THE_END),
                ),
                because="one request takes references out",
            ),
            Sabotage(
                "changed references are not heard of",
                f"{GRAPH}._change_owners",
                constant(None),
                notes("and nothing is left", "it waits for nobody", "and the adopted one with it", IN_THE_END),
                because="each of them waits for such a change",
            ),
        ),
        answers=(Answers("the server that owners are in", "", server_answers(("ownership",), recording=BARE)),),
    ),
    Judged(
        "quota_agreement",
        lambda: quota_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "nobody's device is counted",
                "api.quota.is_extended_resource_name",
                constant(False),
                notes("two devices more", "the bill of devices: .*", "the bill in the end: counted-devices"),
                because="what is not charged is on no bill",
            ),
            Sabotage(
                "the controller knows no scopes",
                f"{COUNTING}.matches_scopes",
                constant(True),
                notes(
                    *("what was given back: counted-scopes", "the next one with a deadline"),
                    *("one that had none wants a deadline again", "the bill in the end: counted-scopes"),
                ),
                because="who is charged too much is refused afterwards",
            ),
            Sabotage(
                "what is done, or smaller, still counts",
                f"{COUNTING}._should_replenish",
                constant(False),
                (
                    *notes(
                        *("what was given back: counted-scopes", "the next one with a deadline"),
                        *("the bill of objects: .*", "the bill in the end: counted-scopes"),
                    ),
                    *RESIZED,
                ),
                because="pods that are done, resized, or refused for them, and Services without ports",
            ),
            Sabotage(
                "nobody counts again when a pod holds something else",
                f"{COUNTING}._resources_changed",
                constant(False),
                RESIZED,
                because="each bill adds up all pods that were resized so far",
            ),
            Sabotage(
                "affinity looks at its own namespace only",
                "api.quota._looks_into_other_namespaces",
                constant(False),
                notes(
                    *("a pod that looks into other namespaces", "one that would like to"),
                    *("the bill of scopes: .*", "what was given back: counted-scopes"),
                    "the bill in the end: counted-scopes",
                ),
                because="two pods get in, and are counted by the quotas of other scopes",
            ),
        ),
        answers=(Answers("the server that counts", "", server_answers(("quotas",), recording=BARE)),),
    ),
    Judged(
        "small_loops_agreement",
        lambda: small_loops_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "a claim is not told that its volume is unlike what it wants",
                "controllers.persistentvolume.pv_controller.check_volume_satisfies_claim",
                constant("nothing fits"),
                notes("what by-name is told", "what by-mode is told"),
                because="both ask for a volume by its name",
            ),
        ),
        answers=(Answers("the server that the loops write to", "", server_answers(("small-loops",), recording=BARE)),),
    ),
    Judged(
        "keyed_list_agreement",
        lambda: keyed_list_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "a port is known by its number alone",
                f"{FIELDS}.typed.Type.item_element",
                Wrapped(without_protocol),
                notes(
                    *("ports, one of which names its protocol", "the default protocol, named"),
                    "the same number, another protocol",
                ),
                because="each of these has a port with another protocol than the default, or names it",
            ),
            Sabotage(
                "a conflict does not say through which version or subresource",
                f"{FIELDS}.conflicts._manager",
                Wrapped(names_only),
                notes(
                    *("who applied it wants it back", "by who looked too early", "to another life"),
                    *("another wants another value", "after that, there is nobody to object but who was before"),
                    *("a condition that is the other's", "the first still wants three"),
                ),
                because="these conflicts are with a plain write, or one of a subresource",
            ),
        ),
        answers=(Answers("the server that is applied to", "", server_answers(("keyed-lists",), recording=BARE)),),
    ),
    Judged(
        "new_object_agreement",
        lambda: new_object_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "writers of other kinds are remembered",
                f"{FIELDS}.update.forget_strangers",
                constant(None),
                notes(
                    *("a role without a version", "a role with an empty version", "a role with version nought"),
                    *("a role of another generation", "they are written again"),
                    *("a Deployment that is there already", "a budget with a status", ".* of generation seven"),
                ),
                because="an object of another group was sent with a writer of v1, and is read and written again",
            ),
        ),
        answers=(Answers("the server, asked for new objects", "", server_answers(("new-objects",), recording=BARE)),),
    ),
    Judged(
        "endpoint_slice_agreement",
        lambda: endpoint_slice_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "a Service's labels stay in its slices",
                f"{SLICES}.reconciler.labels_changed",
                constant(False),
                notes("and its slices with it"),
            ),
            Sabotage(
                "ports of the old form come in the order of the Service",
                "controllers.endpoints.subsets._by_hash",
                first_come,
                notes("the old form of ports by name"),
            ),
            Sabotage(
                "slices are not used again",
                f"{SLICES}.reconciler._recycle",
                constant(None),
                notes("and its slice, the same one, too", "and its slice has them", "and its slice is left as it is"),
                because="a slice with another name stays there until the end",
            ),
            Sabotage(
                "nobody has a name of his own",
                f"{SLICES}.pod_endpoints.should_set_hostname",
                constant(False),
                notes("the slices of headless", "one is on its way out", "and its slices with it"),
                because="one pod has a hostname, until it is gone",
            ),
        ),
        answers=(Answers("the server that slices are in", "", server_answers(("endpoints",), recording=BARE)),),
    ),
    Judged(
        "forwarded_agreement",
        forwarded_agreement,
        sabotages=(
            Sabotage(
                "forged names are passed on",
                "apiserver.aggregation.backend.REMOTE",
                "x-nobody-",
                ("forged$",),
                because="one prefix stands for all of these headers",
            ),
            Sabotage(
                "what belongs to one connection is passed on",
                "apiserver.aggregation.backend.HOP_BY_HOP",
                frozenset(),
                ("what belongs to one connection$",),
            ),
        ),
        answers=(
            Answers(
                "headers, request by request",
                "",
                called("agreements.apiserver.forwarded.our_headers", lambda headers, *_: [*headers, ["spoilt", "yes"]]),
            ),
        ),
    ),
)
