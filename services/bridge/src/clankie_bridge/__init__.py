"""The presence in Discord: it knows Discord and no model, and keeps nothing on disk but evidence."""
