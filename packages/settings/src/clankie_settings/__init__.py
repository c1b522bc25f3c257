"""clankie_settings."""
