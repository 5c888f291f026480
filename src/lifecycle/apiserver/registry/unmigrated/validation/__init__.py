"""What is wrong with objects of kinds that have no home of their own yet."""
