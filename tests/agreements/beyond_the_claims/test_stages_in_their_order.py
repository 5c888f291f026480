"""Which stage a request passes first, and what each is told: the list of upstream's `DefaultBuildHandlerChain`, outermost first."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.apiserver.server import chain
from lifecycle.apiserver.server.chain import ChainConfig, default_build_handler_chain

UPSTREAM = [
    "with_audit_init",
    "with_panic_recovery",
    "with_mux_and_discovery_complete",
    "with_request_info",
    "with_retry_after",
    "with_hsts",
    "with_cache_control",
    "with_timeout",
    "with_cors",
    "with_authentication",
    "with_audit",
    "with_impersonation",
    "with_priority_and_fairness",
    "with_authorization",
]
"""Of v1.36, as far as ours has them; what upstream has in a stage's place for lack of flow control stands in it."""
OURS = ["with_tracing", "with_metrics", "with_status_errors"]
"""Around all of it; and, innermost, what upstream does where a request is handled."""


def passed(monkeypatch: pytest.MonkeyPatch, **more: Any) -> tuple[list[str], dict[str, tuple[Any, ...]]]:
    """The stages of a request, in order; and what each was made with."""
    order, made = list[str](), dict[str, tuple[Any, ...]]()

    def stage(name: str) -> Any:
        def build(handler: Handler, *told: Any) -> Handler:
            made[name] = told

            async def noting(request: Request) -> Response:
                order.append(name)
                return await handler(request)

            return noting

        return build

    for name in (*UPSTREAM, "with_max_in_flight_limit", *OURS):
        monkeypatch.setattr(chain, name, stage(name))
    monkeypatch.setattr(chain, "with_failed_request_audit", lambda *told: ("audited", *told))

    async def handler(request: Request) -> Response:
        order.append("handler")
        return Response(200)

    config = ChainConfig(
        cast(Any, "authenticator"),
        cast(Any, "authorizer"),
        audit=cast(Any, "audit"),
        names=cast(Any, "names"),
        request_info=cast(Any, "infos"),
        cors_allowed_origins=("origin",),
        request_timeout=40.0,
        hsts_directives=("hsts",),
        mux_and_discovery_complete=cast(Any, "complete"),
        shutting_down=cast(Any, "ending"),
        metrics=cast(Any, "metrics"),
        **more,
    )
    asyncio.run(cast(Any, default_build_handler_chain(handler, config)(Request("GET", "/"))))
    return order, made


@pytest.mark.parametrize("fair", [True, False])
def test_the_order_is_upstreams(fair: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    order, _ = passed(monkeypatch, flow_control="fairness" if fair else None)
    expected = UPSTREAM if fair else [name.replace("priority_and_fairness", "max_in_flight_limit") for name in UPSTREAM]
    assert order == ["with_tracing", *expected, "with_metrics", "with_status_errors", "handler"]


def test_each_stage_is_told_what_is_meant_for_it_and_a_quarter_of_the_time_is_for_queueing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Upstream: `c.RequestTimeout/4`; who could not say who it is, and whose time is over, is audited as one whose request
    failed.
    """
    _, made = passed(monkeypatch, flow_control="fairness")
    timeout, told = made.pop("with_timeout")
    assert (timeout, told("refused")) == (40.0, ("audited", "refused", "audit"))
    assert made == {
        "with_audit_init": ("names",),
        "with_panic_recovery": (),
        "with_mux_and_discovery_complete": ("complete",),
        "with_request_info": ("infos",),
        "with_retry_after": ("ending",),
        "with_hsts": (("hsts",),),
        "with_cache_control": (),
        "with_cors": (("origin",),),
        "with_authentication": ("authenticator", ("audited", chain.answer_unauthorized, "audit")),
        "with_audit": ("audit",),
        "with_impersonation": ("authorizer",),
        "with_priority_and_fairness": ("fairness", 10.0),
        "with_authorization": ("authorizer",),
        "with_tracing": (),
        "with_metrics": ("metrics",),
        "with_status_errors": (),
    }
