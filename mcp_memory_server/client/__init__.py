"""What attaches to servers as a client."""
