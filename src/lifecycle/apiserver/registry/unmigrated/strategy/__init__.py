"""What the registry does to objects of kinds that have no home of their own yet."""
