"""What quoted code does beyond what any article claims of it: pages tell of it beside the quotation, and these ask whether it is so.

They are asked about a broken line of quoted code as the checks of claims are (`mutants`).
"""
