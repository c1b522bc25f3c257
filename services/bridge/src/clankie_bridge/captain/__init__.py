"""Everything that knows the captain's door."""
