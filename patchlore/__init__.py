"""Patchlore: a knowledge base of patch mail, with the evidence for each fact."""

__version__ = "0.1.0"
