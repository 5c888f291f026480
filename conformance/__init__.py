"""Kubernetes' own conformance tests against a cluster of ours: `make conformance`.

Needs Linux, root, and a folder `KUBE_BIN` with `e2e.test`, `ginkgo` and `agnhost` of the pinned version. None of them is part of
the project; where they are not, nothing here runs.
"""
