"""clankie_stage."""
