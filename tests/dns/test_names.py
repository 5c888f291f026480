"""What each kind of name is answered with, and which of the three ways to say no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.dns.answering import Answerer, address_of
from lifecycle.dns.kubernetes_plugin import KubernetesPlugin
from lifecycle.dns.records import Answer, Record
from lifecycle.dns.service_index import Port, ServiceIndex, declared_ports
from tests.dns.cluster import answerer, service, slice_of


def ask(name: str, qtype: str = "A") -> Answer:
    if not name.endswith((".", "arpa")):
        name += ".svc.cluster.local."
    return answerer().answer(name, qtype)


def data(name: str, qtype: str = "A") -> list[str]:
    found = ask(name, qtype)
    assert found.rcode == "NOERROR"
    assert bool(found.answer) != bool(found.authority)
    return [record.data for record in found.answer]


def test_a_service_is_its_cluster_ip() -> None:
    assert ask("web.shop").answer == [Record("web.shop.svc.cluster.local.", 30, "A", "10.96.0.5")]
    assert data("both.shop", "AAAA") == ["fd00::6"]


def test_case_is_the_askers() -> None:
    assert ask("WeB.ShOp").answer == [Record("WeB.ShOp.svc.cluster.local.", 30, "A", "10.96.0.5")]


def test_a_headless_service_is_its_ready_endpoints() -> None:
    assert data("db.shop") == ["10.244.1.2", "10.244.1.3"]
    assert data("db-0.db.shop") == ["10.244.1.2"]
    assert data("10-244-1-3.db.shop") == ["10.244.1.3"]
    assert ask("10-244-1-2.db.shop").rcode == "NXDOMAIN"  # it has a hostname of its own
    assert data("10-244-1-2.web.shop") == ["10.244.1.2"]


def test_srv_records_share_the_weight_and_bring_addresses() -> None:
    found = ask("_http._tcp.db.shop", "SRV")
    assert [r.data for r in found.answer] == [
        "0 50 8080 db-0.db.shop.svc.cluster.local.",
        "0 50 8080 10-244-1-3.db.shop.svc.cluster.local.",
    ]
    assert [r.data for r in found.additional] == ["10.244.1.2", "10.244.1.3"]
    assert ask("_smtp._tcp.db.shop", "SRV").rcode == "NXDOMAIN"
    assert data("_http._tcp.web.shop") == ["10.96.0.5"]


def test_an_srv_record_of_both_families_has_half_the_weight_for_each_and_says_it_once() -> None:
    found = ask("both.shop", "SRV")
    assert [r.data for r in found.answer] == ["0 50 80 both.shop.svc.cluster.local."]
    assert [(r.type, r.data) for r in found.additional] == [("A", "10.96.0.6"), ("AAAA", "fd00::6")]


def test_endpoints_of_one_host_name_share_an_srv_record() -> None:
    twins = [{"addresses": [f"172.0.0.{n}"], "hostname": "dup-name"} for n in (4, 5)]
    others = [{"addresses": [f"172.0.0.{n}"]} for n in (2, 3)]
    slices = [slice_of("twins", *others, *twins)]
    index = ServiceIndex.of([service("twins", "None")], slices, ["shop"])
    found = Answerer(KubernetesPlugin(index)).answer("_http._tcp.twins.shop.svc.cluster.local.", "SRV")
    below = "twins.shop.svc.cluster.local."
    names = ["172-0-0-2", "172-0-0-3", "dup-name"]
    assert [r.data for r in found.answer] == [f"0 25 8080 {name}.{below}" for name in names]
    assert [r.data for r in found.additional] == [f"172.0.0.{n}" for n in (2, 3, 4, 5)]


@pytest.mark.parametrize("qtype", ["ANY", "HTTPS", "SVCB", "MX", "CAA", "DS", "TYPE65280"])
def test_types_that_nobody_has_records_of(qtype: str) -> None:
    assert data("web.shop", qtype) == data("shop", qtype) == data("cluster.local.", qtype) == []
    assert ask("gone.shop", qtype).rcode == "NXDOMAIN"


def test_without_declared_ports_there_are_addresses_but_no_srv() -> None:
    assert data("portless.shop") == ["10.244.1.4"]
    assert data("portless.shop", "SRV") == []


def test_an_external_service_is_an_alias() -> None:
    assert [(r.type, r.data) for r in ask("out.shop").answer] == [("CNAME", "example.com.")]
    assert data("out.shop", "CNAME") == ["example.com."]
    assert data("out.shop", "SRV") == []
    assert ask("number.shop").rcode == "NXDOMAIN"
    assert ask("x.out.shop").rcode == "NXDOMAIN"


def test_an_alias_inside_the_cluster_is_followed() -> None:
    assert [(r.type, r.data) for r in ask("in.shop").answer] == [
        ("CNAME", "WEB.shop.svc.cluster.local."),
        ("A", "10.96.0.5"),
    ]
    assert data("round.shop") == []
    assert data("nowhere.shop") == []


def test_a_pods_name_is_its_address_whether_or_not_it_exists() -> None:
    pod = "10-244-1-2.shop.pod.cluster.local."
    assert ask(pod).answer == [Record(pod, 30, "A", "10.244.1.2")]
    assert data(pod, "AAAA") == []
    assert data("fd00--7.shop.pod.cluster.local.", "AAAA") == ["fd00::7"]
    assert ask("any.shop.pod.cluster.local.").rcode == "NXDOMAIN"
    assert ask("fe80--1%eth0.shop.pod.cluster.local.").rcode == "NXDOMAIN"
    assert data("x.10-244-1-2.shop.pod.cluster.local.") == ["10.244.1.2"]  # what stands before it is not looked at
    assert ask("10-244-1-2.nowhere.pod.cluster.local.").rcode == "NXDOMAIN"


@pytest.mark.parametrize("name", ["shop", "empty", "cluster.local.", "svc.cluster.local.", "pod.cluster.local."])
def test_names_on_the_way_exist_without_records(name: str) -> None:
    assert data(name) == []


@pytest.mark.parametrize(
    "name",
    ["gone.shop", "web.gone", "waiting.shop", "a.b.c.web.shop", "other.cluster.local.", "shop.srv.cluster.local."],
)
def test_names_that_do_not_exist(name: str) -> None:
    found = ask(name)
    assert found.rcode == "NXDOMAIN"
    assert found.authoritative
    assert [r.type for r in found.authority] == ["SOA"]


def test_negative_answers_say_how_long_they_hold() -> None:
    (soa,) = ask("gone.shop").authority
    assert soa == Record(
        "cluster.local.", 30, "SOA", "ns.dns.cluster.local. hostmaster.cluster.local. 1795226175 7200 1800 86400 30"
    )


def test_the_zone_itself() -> None:
    assert data("dns-version.cluster.local.", "TXT") == ['"1.1.0"']
    assert data("web.shop", "TXT") == []
    assert ask("gone.shop", "TXT").rcode == "NXDOMAIN"
    found = ask("cluster.local.", "NS")
    assert [r.data for r in found.answer] == ["kube-dns.kube-system.svc.cluster.local."]
    assert [r.data for r in found.additional] == ["10.96.0.10"]
    assert data("ns.dns.cluster.local.") == ["10.96.0.10"]
    assert data("web.shop", "MX") == []
    assert ask("gone.shop", "MX").rcode == "NXDOMAIN"


def test_addresses_have_names() -> None:
    assert data("5.0.96.10.in-addr.arpa", "PTR") == ["web.shop.svc.cluster.local."]
    assert data("2.1.244.10.in-addr.arpa", "PTR") == [
        "db-0.db.shop.svc.cluster.local.",
        "10-244-1-2.web.shop.svc.cluster.local.",
    ]
    six = "6.0.0.0." + "0.0.0.0." * 6 + "0.0.d.f.ip6.arpa"
    assert data(six, "PTR") == ["both.shop.svc.cluster.local."]


def test_what_is_not_ours_is_nobodys() -> None:
    for name, qtype in (("example.com.", "A"), ("1.2.0.192.in-addr.arpa", "PTR")):
        found = ask(name, qtype)
        assert found.rcode == "SERVFAIL"
        assert not found.authoritative


@given(st.ip_addresses())
def test_reverse_names_are_read_as_python_writes_them(address: object) -> None:
    assert address_of(f"{address.reverse_pointer}.") == str(address)  # type: ignore[attr-defined]


@given(
    st.text(alphabet="abc-_.0123456789", max_size=40), st.sampled_from(["A", "AAAA", "SRV", "TXT", "PTR", "SOA", "ANY"])
)
def test_any_name_has_an_answer(name: str, qtype: str) -> None:
    for zone in ("cluster.local.", "svc.cluster.local.", "shop.pod.cluster.local.", "in-addr.arpa."):
        found = answerer().answer(f"{name}.{zone}" if name else zone, qtype)
        assert found.rcode in ("NOERROR", "NXDOMAIN", "SERVFAIL")


def test_the_zone_is_spelled_as_asked_too() -> None:
    """Upstream's `handler_case_test.go`: names of targets and the SOA end in the asker's spelling of the zone."""
    found = ask("_HtTp._TcP.WeB.ShOp.SvC.ClUsTeR.lOcAl.", "SRV")
    assert [r.data for r in found.answer] == ["0 100 80 web.shop.svc.ClUsTeR.lOcAl."]
    assert [r.name for r in found.additional] == ["web.shop.svc.ClUsTeR.lOcAl."]
    (soa,) = ask("gone.shop.svc.ClUsTeR.lOcAl.").authority
    assert soa.name == "ClUsTeR.lOcAl."
    assert soa.data.startswith("ns.dns.ClUsTeR.lOcAl. hostmaster.ClUsTeR.lOcAl. ")
    assert data("Cluster.local.", "SOA") == [ask("Cluster.local.", "SOA").answer[0].data]
    assert data("Cluster.local.", "NS") == []  # its own name servers CoreDNS knows only in small letters
    assert [ask(name).rcode for name in ("NS.dns.cluster.local.", "ns.dns.Cluster.local.")] == ["NOERROR", "NXDOMAIN"]


def test_names_under_the_reverse_zones() -> None:
    """What is no address of ours is passed on; only the zones themselves are our own to speak for."""
    assert data("in-addr.arpa.", "SOA")[0].startswith("ns.dns.in-addr.arpa. ")
    assert data("in-addr.arpa.", "NS") == ["kube-dns.kube-system.svc.in-addr.arpa."]
    assert data("5.0.96.10.in-addr.arpa", "SOA") == []
    assert data("in-addr.arpa.", "PTR") == data("ip6.arpa.") == []
    for name, qtype in (("96.10.in-addr.arpa", "PTR"), ("5.0.96.10.in-addr.arpa", "A"), ("in-addr.arpa.", "TXT")):
        assert ask(name, qtype).rcode == "SERVFAIL"


def test_a_zone_is_not_given_out_whole() -> None:
    assert [ask(name, "AXFR").rcode for name in ("cluster.local.", "web.shop", "in-addr.arpa.")] == ["REFUSED"] * 3


def test_pods_have_no_ports_and_an_srv_record_says_so() -> None:
    (record,) = ask("10-244-1-2.shop.pod.cluster.local.", "SRV").answer
    assert record.data == "0 100 0 10-244-1-2.shop.pod.cluster.local."


def test_pointers_are_not_looked_for_below_the_cluster() -> None:
    assert data("web.shop", "PTR") == []
    assert ask("gone.shop", "PTR").rcode == ask("ns.dns.cluster.local.", "PTR").rcode == "NXDOMAIN"


def test_an_address_that_would_end_in_a_dash_gets_a_zero() -> None:
    slices = [slice_of("six", {"addresses": ["fd00::"]})]
    index = ServiceIndex.of([service("six", "None")], slices, ["shop"])
    found = Answerer(KubernetesPlugin(index)).answer("_http._tcp.six.shop.svc.cluster.local.", "SRV")
    assert found.answer[0].data == "0 100 8080 fd00--0.six.shop.svc.cluster.local."


@pytest.mark.parametrize(("length", "found"), [(3, True), (11, True), (12, False)])
def test_a_chain_of_aliases_is_followed_only_so_far(length: int, found: bool) -> None:
    names = [f"n{i}" for i in range(length)]
    ends = [*names[1:], "web"]
    chain = [
        service(name, type="ExternalName", externalName=f"{end}.shop.svc.cluster.local")
        for name, end in zip(names, ends)
    ]
    index = ServiceIndex.of([*chain, service("web", "10.96.0.5")], [], ["shop"])
    answer = Answerer(KubernetesPlugin(index)).answer("n0.shop.svc.cluster.local.", "A").answer
    assert [record.data for record in answer[-1:]] == (["10.96.0.5"] if found else [])
    assert len(answer) == (length + 1 if found else 0)


def test_a_port_is_tcp_unless_it_says_otherwise_and_no_port_is_one_without_a_number() -> None:
    none = Port("", "", -1)
    assert declared_ports(None) == declared_ports([]) == [none]
    assert declared_ports([{"port": 80}, {"name": "dns", "protocol": "UDP", "port": 53}, {"name": "any"}]) == [
        Port("", "TCP", 80), Port("dns", "UDP", 53), Port("any", "TCP", -1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["", "web.shop.svc.cluster.local.", "x.in-addr.arpa.", "2.244.10.in-addr.arpa.", "1.ip6.arpa."]
)
def test_a_name_that_stands_for_no_address_has_an_empty_one(name: str) -> None:
    assert address_of(name) == ""
