"""ControllerRevisions: the past of DaemonSets and StatefulSets."""
