"""What is wrong with a definition of custom resources; `definition` is where to begin.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation`, v1.36.
"""
