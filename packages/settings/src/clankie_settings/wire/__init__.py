"""The shapes that a presence and the captain share; see ``docs/wire.md``."""
