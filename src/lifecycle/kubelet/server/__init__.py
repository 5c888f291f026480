"""The kubelet's own HTTPS API: what the API server asks when somebody wants logs, a
command, or a port of a pod.
"""
