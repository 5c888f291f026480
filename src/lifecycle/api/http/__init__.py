"""A request and its answer, and the small habits of HTTP that both ends share."""
