"""The commands of the command line, one module per group; cli.py dispatches to them."""
