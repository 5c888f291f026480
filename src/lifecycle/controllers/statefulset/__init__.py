"""StatefulSets: pods with names of their own."""
