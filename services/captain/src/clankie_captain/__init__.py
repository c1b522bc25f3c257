"""The captain: the service that thinks. It knows models and no Discord."""
