"""Volume plugins: what is to be in a pod's volumes, and how it gets onto the disk.

`payloads` decides what is to be in a ConfigMap, Secret, downward API or projected
volume, `atomic_writer` puts it on disk so that nobody ever sees half of it, `empty_dir`
and `host_path` are the others that need no driver.

Upstream: `pkg/volume`, v1.36.
"""
