"""Server-side printing: the columns and cells of `kubectl get`, made by the API server.

`table` turns objects into a `meta.k8s.io/v1` Table; `columns` says which columns a
resource has. One module per family of kinds holds their printers; `render` chooses and
assembles.

Upstream: `pkg/printers/internalversion/printers.go`,
`apiserver/pkg/registry/rest/table.go`, v1.36.
"""

from lifecycle.api.table.render import columns, table

__all__ = ["columns", "table"]
