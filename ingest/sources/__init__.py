"""One module per archive or page format; detect.py holds the table of them."""
