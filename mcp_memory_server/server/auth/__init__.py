"""Who asks over the network: access tokens, and the actors that they stand for."""
