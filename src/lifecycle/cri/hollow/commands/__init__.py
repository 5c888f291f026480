"""The commands that hollow containers have, by what they are about."""
