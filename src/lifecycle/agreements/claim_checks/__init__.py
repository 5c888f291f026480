"""The checks behind the claims ledger, one module per part of the journey.

`@check("id")` puts a claim to what a recorded cluster answered; `@rebuilt("id")` puts
it to our own components. A claim that says something about the wire or about a decision
usually has both; one about a mechanism inside a component has only the second.
"""
