"""What objects of kinds without a home say without saying it."""
