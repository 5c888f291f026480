"""CustomResourceDefinitions: an object that makes a new API.

Whoever posts a CustomResourceDefinition gets a resource that looks like any other:
kubectl finds it, it can be listed, watched, patched, applied and guarded by RBAC, and
what is sent is checked. Nothing of that is compiled in. The rules come out of the
definition's schema:

- `pruning`, `defaulting`, `schema_validation`, `list_types`, `cel_rules` – what the
  schema makes of an object
- `structural`, `validation`, `rule_definitions`, `rule_costs` – what a schema, its
  rules and a definition must look like
- `strategy` – these rules as the generic registry wants them (`registry.strategy`)
- `controllers` – NamesAccepted, Established, and the finalizer that empties a
  definition on its way out
- `served`, `handler`, `discovery`, `openapi` – serving what is established

Upstream: `k8s.io/apiextensions-apiserver`, v1.36.
"""
