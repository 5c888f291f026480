"""One request, one timeline.

`SpanRecorder` listens to the spans of the real code path; `journey_of` follows one
object and what it came to own; `text.render` prints the journey, and the room `figures`
paints it (`figures.timeline.draw`). `recorded.recorded_journey` makes the same of a
real cluster's audit log.

Spans that are understood (`component`: stages), with the attributes that tie them to
objects:

- `kubectl`: any (`create`, `discovery` …) – `uid` once the answer is known
- `apiserver`: `request` around all others; `authentication`, `audit`, `impersonation`,
  `flow control`, `authorization`, `decode`, `mutating admission`, `validation`,
  `validating admission`, `admission` (one plugin), `storage` – no attributes needed
- `etcd`: `txn` – `key` (`/registry/pods/NS/NAME`), `uid`, `owner_uid` where there is a
  controlling owner
- `deployment-controller`, `replicaset-controller`: `sync` – `key` (`NS/NAME`)
- `scheduler`: `schedule_one` (or `schedule`), `bind` – `key` and `uid` of the pod
- `kubelet`: `sync_pod`, `run_pod_sandbox`, `start_container`, `status` – `uid` of the
  pod; `pull`, `create`, `start` inside

Other components and stages are shown too, after these.
"""

from lifecycle.trace.journey import Journey, Step, journey_of
from lifecycle.trace.recorder import SpanRecorder

__all__ = ["Journey", "SpanRecorder", "Step", "journey_of"]
