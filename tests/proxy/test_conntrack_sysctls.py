"""The kernel's time limits for flows. Upstream: `pkg/proxy/conntrack/sysctls_test.go`, `TestSetupConntrack`."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.proxy.conntrack_sysctls import set_sysctls
from lifecycle.proxy.iptables.config import ConntrackConfig
from tests.proxy.namespace import inside, network_namespace

ESTABLISHED, CLOSE_WAIT = "nf_conntrack_tcp_timeout_established", "nf_conntrack_tcp_timeout_close_wait"
NOTHING = {"tcp_established_timeout": 0, "tcp_close_wait_timeout": 0}


def test_by_default_a_goodbye_may_take_an_hour_and_a_talk_a_day() -> None:
    assert ConntrackConfig() == ConntrackConfig(0, 131072, 86400, 3600, False, 0, 0)
    assert ConntrackConfig().sysctls(4) == {ESTABLISHED: 86400, CLOSE_WAIT: 3600}


@pytest.mark.parametrize(
    ("config", "written"),
    [
        ({}, {}),
        ({"max_per_core": 100_000}, {"nf_conntrack_max": 400_000}),
        ({"max_per_core": 10}, {"nf_conntrack_max": 131_072}),
        ({"max_per_core": 10, "min": 0}, {"nf_conntrack_max": 40}),
        ({"tcp_be_liberal": True}, {"nf_conntrack_tcp_be_liberal": 1}),
        (
            {"udp_timeout": 5, "udp_stream_timeout": 6},
            {"nf_conntrack_udp_timeout": 5, "nf_conntrack_udp_timeout_stream": 6},
        ),
    ],
)
def test_what_is_zero_stays_the_kernels(config: dict[str, int], written: dict[str, int]) -> None:
    assert ConntrackConfig(**{**NOTHING, **config}).sysctls(4) == written


def test_what_cannot_be_written_is_logged_and_the_rest_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / CLOSE_WAIT).write_text("60\n")
    with network_namespace("sysctls") as namespace:
        set_sysctls(ConntrackConfig(), f"/run/netns/{namespace}", 4, tmp_path)
    assert (tmp_path / CLOSE_WAIT).read_text() == "3600"
    assert f"{ESTABLISHED} stays as it is: No such file or directory" in caplog.text


def test_a_namespace_has_its_own_and_no_other_is_touched() -> None:
    with network_namespace("sysctls") as namespace:
        before = Path(f"/proc/sys/net/netfilter/{CLOSE_WAIT}").read_text()
        set_sysctls(ConntrackConfig(tcp_close_wait_timeout=3599), f"/run/netns/{namespace}", 4)
        assert inside(namespace, "cat", f"/proc/sys/net/netfilter/{CLOSE_WAIT}") == "3599\n"
        assert inside(namespace, "cat", f"/proc/sys/net/netfilter/{ESTABLISHED}") == "86400\n"
        assert Path(f"/proc/sys/net/netfilter/{CLOSE_WAIT}").read_text() == before
