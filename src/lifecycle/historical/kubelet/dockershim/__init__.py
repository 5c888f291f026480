"""dockershim, 1.5 to 1.23: a CRI server compiled into the kubelet, which told Docker
what CRI asks for.

Docker knew no pods, so everything about a pod was folded into the names (`naming`) and
labels (`docker_container`) of its containers, and what fitted into neither was written
to a checkpoint (`docker_sandbox`). Left out: talking to Docker.
"""
