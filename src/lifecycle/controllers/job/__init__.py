"""Jobs: pods that are to finish."""
