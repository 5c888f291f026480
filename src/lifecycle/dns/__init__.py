"""Cluster DNS: names for Services and pods. Upstream: CoreDNS' plugin `kubernetes`; the
pod's side is `pkg/kubelet/network/dns`.
"""
