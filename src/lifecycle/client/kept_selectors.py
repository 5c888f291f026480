"""The selectors of a kind's objects, each read once.

Whoever watches pods asks all budgets of a namespace, or all ReplicaSets, about each of
them. To ask is little: a pod has few labels. To read a selector is as much as somebody
has written into it, which may be fifteen thousand words; so that happens once for each
version of the object, and what was read goes when the object goes.

Ours. Upstream reads them anew each time, each controller in a goroutine of its own
(`policy/v1/poddisruptionbudget_expansion.go`, `GetPodPodDisruptionBudgets`).
"""

from __future__ import annotations

from lifecycle.api.labels import Selector, selector_from_label_selector
from lifecycle.api.wire import Object
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.client.store import meta_namespace_key


class KeptSelectors:
    """Of the objects in `informer`, whose `spec.selector` is a `metav1.LabelSelector`.
    They are read as the objects come, one after the other.
    """

    def __init__(self, informer: SharedInformer) -> None:
        self._read: dict[str, tuple[Object, Selector]] = {}
        informer.add_event_handler(
            add=self._note,
            update=lambda old, new: self._note(new),
            delete=self._forget,
        )

    def of(self, obj: Object) -> Selector:
        """The selector of an object as the informer has it. Raises StatusError."""
        key = meta_namespace_key(obj)
        known = self._read.get(key)
        if known is None or known[0] is not obj:
            selector = selector_from_label_selector(obj["spec"].get("selector"))
            known = self._read[key] = (obj, selector)
        return known[1]

    def _note(self, obj: Object) -> None:
        self.of(obj)

    def _forget(self, obj: Object) -> None:
        self._read.pop(meta_namespace_key(obj), None)
