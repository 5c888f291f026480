"""Other ways to print what a server answered: by path, by column, in another order."""
