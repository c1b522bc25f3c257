"""The captain's door: one file a resource. Source: wire.md."""
