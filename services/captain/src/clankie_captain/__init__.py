"""clankie_captain."""
