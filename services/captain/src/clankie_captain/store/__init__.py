"""Rows: the only place that imports SQLAlchemy. One transaction for each decision."""
