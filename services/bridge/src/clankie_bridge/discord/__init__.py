"""Everything that knows Discord's protocol."""
