"""JSON as Go reads it, complains of it and writes it.

`decode` reads (`unmarshal`), `scanner` says what is wrong with a text that is no JSON,
`encode` writes (`marshal`, `marshal_indent`, `html_escape`). Everything stands on
Python's own modules, so that small programs – a CNI plugin starts for every pod – load
it fast. Who reads or writes much (the API server) does so with `orjson` and comes here
for what `orjson` cannot do: Go's complaints and Go's escapes.

Upstream: Go's `encoding/json`. `sigs.k8s.io/json`, with which Kubernetes reads objects,
has the same scanner and so the same complaints; it differs in integers, which stay
integers.
"""
