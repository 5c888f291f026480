"""How much of its quota a namespace uses."""
