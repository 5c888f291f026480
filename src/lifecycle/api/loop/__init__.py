"""The event loop's manners: time, taking turns, and work that is done beside it."""
