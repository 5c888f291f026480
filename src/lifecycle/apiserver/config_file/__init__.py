"""Files that say how a server is to be: read strictly, as Go would read them."""
