"""Programs that make the data files in `src` from what others published or recorded.

The package never runs them, and the wheel does not carry them: they are here so that
each table says where it comes from, and can be made again for another version.
`python -m generators --help` lists them; `make tables` runs those that can be repeated.
"""
