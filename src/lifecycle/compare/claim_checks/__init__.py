"""Checks of the claims ledger, one module per part of the book.

Each check is handed a recording and says whether the claim, as worded, is true of it.
"""
