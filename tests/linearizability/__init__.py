"""Is the storage one thing that does one thing at a time? What concurrent clients were told is held against that.

Clients create, read, change, delete and list at once while connections break, answers get lost and members of an etcd die. Each notes
when it asked, when it was answered and what. The history is **linearizable** if there is an order of all operations that explains every
answer, in which nothing comes before what had ended when it began. Whoever got no answer does not know whether his write was done: it may
have its place at any later moment, or none.

Method: Wing & Gong's search with Lowe's cache of configurations, as the program porcupine does it, key by key (a history is
linearizable if that of each key is). What the one counter of revisions promises beyond a key, `revisions` checks.
"""
