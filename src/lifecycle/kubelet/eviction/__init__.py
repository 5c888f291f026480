"""Giving up pods before the node itself breaks down."""
