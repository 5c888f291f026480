"""How kinds without a home are printed."""
