"""The handler chain: every stage a request passes before anything is done with it.

Each stage wraps the next, so the list below reads from the inside out, and the order
carries meaning:

* Panic recovery is outermost, so whatever goes wrong further in still ends in an
  answer.
* Request info comes before everything that wants to know what is asked for.
* Authentication comes before the audit log (which names the user), impersonation (which
  replaces them) and flow control (which shares out by user).
* Authorization comes last: it is Jane's right that counts, when somebody acts as Jane,
  and a request in a queue is checked when its turn comes.

Upstream: `apiserver/pkg/server/config.go` (`DefaultBuildHandlerChain`), v1.36. Left
out: stages that belong to connections (HTTP/2 goaway, waiting for watches at shutdown),
request logging, goroutines of their own for requests. The time of arrival is noted by
those who want it, warnings travel with the request, and tracing is outermost, so that
its spans show all the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lifecycle.api.http.wire import Handler
from lifecycle.api.names import NameSource
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.authorizer import Authorizer
from lifecycle.apiserver.filters.audit import (
    AuditLog,
    with_audit,
    with_failed_request_audit,
)
from lifecycle.apiserver.filters.audit_init import with_audit_init, with_cache_control
from lifecycle.apiserver.filters.authentication import (
    answer_unauthorized,
    with_authentication,
)
from lifecycle.apiserver.filters.authorization import with_authorization
from lifecycle.apiserver.filters.cors import with_cors
from lifecycle.apiserver.filters.hsts import with_hsts
from lifecycle.apiserver.filters.impersonation import with_impersonation
from lifecycle.apiserver.filters.max_in_flight import with_max_in_flight_limit
from lifecycle.apiserver.filters.metrics import RequestMetrics, with_metrics
from lifecycle.apiserver.filters.panic_recovery import (
    with_panic_recovery,
    with_status_errors,
)
from lifecycle.apiserver.filters.priority_and_fairness import (
    FlowController,
    with_priority_and_fairness,
)
from lifecycle.apiserver.filters.request_info import (
    RequestInfoFactory,
    with_request_info,
)
from lifecycle.apiserver.filters.shutdown import (
    with_mux_and_discovery_complete,
    with_retry_after,
)
from lifecycle.apiserver.filters.timeout import with_timeout
from lifecycle.apiserver.filters.traces import with_tracing

REQUEST_TIMEOUT = 60.0


@dataclass(slots=True)
class ChainConfig:
    """What the stages need. `flow_control=None` puts the plain in-flight limit in its
    place; `request_timeout` is in seconds.
    """

    authenticator: Authenticator
    authorizer: Authorizer
    flow_control: FlowController | None = None
    audit: AuditLog | None = None
    names: NameSource = field(default_factory=NameSource)
    request_info: RequestInfoFactory = field(default_factory=RequestInfoFactory)
    cors_allowed_origins: tuple[str, ...] = ()
    request_timeout: float = REQUEST_TIMEOUT
    hsts_directives: tuple[str, ...] = ()
    mux_and_discovery_complete: Callable[[], bool] | None = None
    shutting_down: Callable[[], bool] | None = None
    metrics: RequestMetrics | None = None


def default_build_handler_chain(api_handler: Handler, config: ChainConfig) -> Handler:
    """The whole chain around what finally serves the API. The handler that comes out
    always answers; it raises nothing but cancellation.
    """
    handler = with_status_errors(api_handler)
    handler = with_metrics(handler, config.metrics)
    handler = with_authorization(handler, config.authorizer)
    if config.flow_control is not None:
        handler = with_priority_and_fairness(
            handler, config.flow_control, config.request_timeout / 4
        )
    else:
        handler = with_max_in_flight_limit(handler)
    handler = with_impersonation(handler, config.authorizer)
    handler = with_audit(handler, config.audit)
    failed = with_failed_request_audit(answer_unauthorized, config.audit)
    handler = with_authentication(handler, config.authenticator, failed)
    handler = with_cors(handler, config.cors_allowed_origins)
    handler = with_timeout(
        handler,
        config.request_timeout,
        lambda refused: with_failed_request_audit(refused, config.audit),
    )
    handler = with_cache_control(handler)
    handler = with_hsts(handler, config.hsts_directives)
    handler = with_retry_after(handler, config.shutting_down)
    handler = with_request_info(handler, config.request_info)
    handler = with_mux_and_discovery_complete(
        handler, config.mux_and_discovery_complete
    )
    handler = with_panic_recovery(handler)
    handler = with_audit_init(handler, config.names)
    return with_tracing(handler)
