"""Normalise, compare, agree: the one comparator of chapters, labs, tests and the
command line.

`compare_recordings(a, b, "journey")` and `await compare_cluster(target, recording,
"journey")` give an `AgreementTable`; below them `Normaliser`, `pair_siblings` and
`compare` do the work document by document.
"""

from lifecycle.compare.agreement import AgreementTable
from lifecycle.compare.agreement_row import Row
from lifecycle.compare.compare import Comparison, Difference, compare
from lifecycle.compare.normalise import Normaliser, normalise_all
from lifecycle.compare.pairing import Bijection, pair_siblings
from lifecycle.compare.replay import compare_cluster
from lifecycle.compare.scenarios import compare_exchanges, compare_recordings

__all__ = [
    "AgreementTable",
    "Bijection",
    "Comparison",
    "Difference",
    "Normaliser",
    "Row",
    "compare",
    "compare_cluster",
    "compare_exchanges",
    "compare_recordings",
    "normalise_all",
    "pair_siblings",
]
