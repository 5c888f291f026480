"""`make slides`."""

from slides.deck import main

main()
