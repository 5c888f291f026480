"""What every kind has in common on its way into the store.

`strategy` says what a kind may decide for itself, and how to write one down; `create`
and `update` are the order in which the registry asks it. The other modules are rules
that kinds of several groups share: metadata, label selectors, references.

Upstream: `apiserver/pkg/registry/rest`, `apimachinery/pkg/api/validation`, v1.36.
"""
