"""DaemonSets: one pod for every node."""
