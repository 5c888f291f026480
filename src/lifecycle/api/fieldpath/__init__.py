"""Fields of an object, and sets of them, as FieldsV1 writes them.

The API server keeps its book of owners in this form (`apiserver.managedfields`), and
kubectl rewrites entries of that book when it takes over a client-side applied object.

Upstream: `structured-merge-diff/fieldpath`, v6.
"""
