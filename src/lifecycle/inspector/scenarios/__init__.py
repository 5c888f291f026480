"""The scenarios as data: one YAML file each, read by `lifecycle.inspector.scenario`."""
