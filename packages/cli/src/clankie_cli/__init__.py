"""clankie_cli."""
