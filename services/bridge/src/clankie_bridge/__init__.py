"""clankie_bridge."""
