"""Alembic's scripts; ``store/schema.py`` applies them at start."""
