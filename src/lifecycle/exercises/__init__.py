"""Your own version of a stage, graded: `lifecycle check STAGE module:object`.

An exercise says what a piece of Kubernetes is handed and what it has to answer, and
holds cases with the right answers: from the recorded clusters wherever they were asked,
from our own component for the corners that nobody recorded. The grade is an agreement
table.
"""
