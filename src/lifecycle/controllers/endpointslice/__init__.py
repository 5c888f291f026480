"""The EndpointSlice controller. Upstream: `pkg/controller/endpointslice`,
`k8s.io/endpointslice`.
"""
