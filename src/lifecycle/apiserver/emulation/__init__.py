"""An older face for the API server: the versions and kinds that an older Kubernetes
served, told and answered as it did, over what this one stores.
"""
