"""Services: their endpoints, and the rules of kube-proxy."""
