"""What goes wrong by accident: the real system's words for it, nothing acknowledged lost, and recovery by itself."""
