"""Endpoints that somebody wrote by hand, as EndpointSlices. Upstream:
`pkg/controller/endpointslicemirroring`.
"""
