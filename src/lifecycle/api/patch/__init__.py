"""The three patch formats that change an object without knowing who owns its fields.
Server-side apply is in `managed_fields`.
"""
