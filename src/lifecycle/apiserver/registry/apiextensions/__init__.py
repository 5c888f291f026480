"""`apiextensions.k8s.io`: definitions of custom resources.

Upstream: `apiextensions-apiserver/pkg/registry`,
`apiextensions-apiserver/pkg/apis/apiextensions`, v1.36.
"""

from lifecycle.apiserver.registry.apiextensions import custom_resource_definition

STRATEGIES = {
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
    ): custom_resource_definition.STRATEGY
}
