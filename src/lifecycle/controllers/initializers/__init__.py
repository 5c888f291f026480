"""Initializers, as controllers: a model of something that Kubernetes had from 1.7 to
1.13, alpha and off by default.

The server's half is `lifecycle.apiserver.admission.initializers`; it runs behind the
feature gate `Initializers`.
"""
