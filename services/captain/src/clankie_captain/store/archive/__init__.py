"""A backup as one file: written, checked, taken back. Source: OPS-10."""
