"""What the last sync that was about a service port wrote for it.

A sync in which one Service changed leaves out the chains of all others, but not their
rules in `KUBE-SERVICES`, where everybody has one. Nor does it end there: how many rules
there are is a metric, so those that are left out have to be counted. With five thousand
Services it takes a third of a second to work out again what was known before.

Upstream works it out each time (`pkg/proxy/iptables/proxier.go`, `syncProxyRules`,
v1.36), and throws away what is not written.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.proxy.iptables.restore_input import RestoreInput
from lifecycle.proxy.service_port_name import ServicePortName


@dataclass(slots=True, frozen=True)
class WrittenService:
    """Its rules in the chains of everybody, and how many rules its own chains have."""

    captures: RestoreInput
    own_rules: int


WrittenServices = dict[ServicePortName, WrittenService]
"""Kept from one sync to the next. What else rules are made of, the node and the
configuration, stays as it is until a full sync.
"""
