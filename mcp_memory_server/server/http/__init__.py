"""Serving over HTTP: the address, the limits, the way in and the way out."""
