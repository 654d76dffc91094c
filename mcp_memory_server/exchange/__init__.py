"""Memories to and from files."""
