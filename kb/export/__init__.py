"""One module per export format of a backport list."""
