"""The lower addresses of a network are for Services that wish for one."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from lifecycle.apiserver.registry.core.service.store import range_offset


@pytest.mark.parametrize(("length", "kept_free"), [(28, 0), (27, 16), (24, 16), (20, 256), (16, 256)])
def test_so_many_are_not_given_out_as_long_as_there_are_others(length: int, kept_free: int) -> None:
    assert range_offset(IPv4Network((0, length))) == kept_free
