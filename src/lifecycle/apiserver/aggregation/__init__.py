"""The aggregation layer: one address, many API servers."""

from lifecycle.apiserver.aggregation.aggregator import Aggregator

__all__ = ["Aggregator"]
