"""Everything the server answers that is not a resource: discovery, OpenAPI, version,
health, the list of paths.
"""

from lifecycle.apiserver.non_resource.handler import NonResourceHandler

__all__ = ["NonResourceHandler"]
