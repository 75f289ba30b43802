"""One module per kind of fact; parse.py calls each of them."""
