"""Claims and volumes find each other."""
