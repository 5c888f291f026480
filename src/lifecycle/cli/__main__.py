"""`python -m lifecycle.cli`."""

from lifecycle.cli import main

main()
