"""Floor 3, finding: the query language, the text engines, ranking and snippets."""
