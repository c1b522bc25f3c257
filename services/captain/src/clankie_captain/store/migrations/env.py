"""Alembic's entry: runs the scripts on the connection that the captain hands over."""

from alembic import context

from clankie_captain.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
