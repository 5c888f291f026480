"""What the Kubernetes API promises at every moment, whatever goes wrong: the list, in one place, `INVARIANTS`.

Each invariant is a function with the name that a report shows. It sees one change, and the world as it was before it, and says
what is broken. `broken` puts a history to all of them.

Promises about one object come first, whoever wrote it; then those about pods; then those of controllers, scheduler and Services,
which are about several objects. A controller acts upon what it was told, and the API does not promise that this is the newest: so
these allow for every version of an object since the one that it had been told of (`History.told`), and for pods whose creation was
answered to nobody (`History.doubtful`).
"""

from tests.chaos.invariants import controllers, objects, others, placement, pods
from tests.chaos.invariants.registry import INVARIANTS, Violation, broken

__all__ = ["INVARIANTS", "Violation", "broken", "controllers", "objects", "others", "placement", "pods"]
