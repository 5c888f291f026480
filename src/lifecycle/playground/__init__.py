"""A whole cluster to play with: time that stands still, goes on, or runs; things that
break; and what a page shows of it all.
"""
