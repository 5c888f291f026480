"""Claims made for a pod's ephemeral volumes."""
