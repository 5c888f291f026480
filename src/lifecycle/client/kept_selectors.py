"""The selectors of a kind's objects, each read once.

Whoever watches pods asks all budgets of a namespace, or all ReplicaSets, about each of
them. To ask is little: a pod has few labels. To read a selector is as much as somebody
has written into it, which may be fifteen thousand words; so that happens once for each
selector, whatever else of its object changes, and what was read goes when the object
goes.

Ours. Upstream reads them anew each time, each controller in a goroutine of its own
(`policy/v1/poddisruptionbudget_expansion.go`, `GetPodPodDisruptionBudgets`).
"""

from __future__ import annotations

from contextlib import suppress

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.api.status import StatusError
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.client.store import meta_namespace_key


class KeptSelectors:
    """Of the objects in `informer`, whose `spec.selector` is a `metav1.LabelSelector`.
    They are read as the objects come, one after the other.
    """

    def __init__(self, informer: SharedInformer) -> None:
        self._read: dict[str, tuple[Object, Selector]] = {}
        informer.add_event_handler(
            add=self._keep,
            update=lambda old, new: self._keep(new),
            delete=self._forget,
        )

    def of(self, obj: Object) -> Selector:
        """The selector of an object as the informer has it. Raises StatusError."""
        key = meta_namespace_key(obj)
        known = self._read.get(key)
        if known is None or known[0] is not obj:
            known = self._read[key] = (obj, self._selector(obj, known))
        return known[1]

    @staticmethod
    def _selector(obj: Object, known: tuple[Object, Selector] | None) -> Selector:
        written = obj["spec"].get("selector")
        if known is not None and known[0]["spec"].get("selector") == written:
            return known[1]  # most changes are of the status
        return selector_from_label_selector(written)

    def _keep(self, obj: Object) -> None:
        with suppress(StatusError):  # whoever asks is told
            self.of(obj)

    def _forget(self, obj: Object) -> None:
        self._read.pop(meta_namespace_key(obj), None)
