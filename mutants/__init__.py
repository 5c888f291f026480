"""How much of what could be broken do the tests notice?

`python -m mutants ROOM…` breaks one place of a room at a time – a comparison turned round,
a number off by one, a call left out – and runs the room's tests over it. A mutant that no
test notices *survives*: either a test is missing, or the change makes no difference.
`python -m mutants quoted` does so with the code that chapters quote, and asks the agreement
tables and the checks of claims only.

    quoted        which lines of `src` the book shows
    operators     the ways to break a line that cosmic-ray has not
    candidates    where a module can be broken
    sample        which of all those places are tried: seeded, by size of module
    coverage_map  which tests run which line
    measuring     how that is learnt, in the process that runs them
    children      the same of the processes that those start
    readers       who reads what a module computes while it is imported
    workshop      a copy of `src` in which one file is broken at a time
    grafting      a broken function in a process that has loaded its module already
    nursery       a process that has loaded all libraries, and forks for each mutant
    trial         one mutant: broken, tested, mended
    nearest       which test files to ask instead, where that takes too long to learn
    unrun         what no test runs: `--unrun` lists it
    report        the figures, and the survivors as a table
"""
