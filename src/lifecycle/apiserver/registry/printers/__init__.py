"""Server-side printing: the columns and cells of `kubectl get`, made by the API server.

`printer` says what a kind's printer is made of, `table` turns objects into a
`meta.k8s.io/v1` Table, `default` and `custom` are the printers of what has none of its
own. Those of the built-in kinds lie where the kinds do, in `registry/<group>/`.

Upstream: `pkg/printers`, `apiserver/pkg/registry/rest/table.go`, v1.36.
"""
