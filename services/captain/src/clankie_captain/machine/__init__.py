"""A shell and files for those whom the owner trusts with the machine, behind walls. Source: GRANT-2, GRANT-4."""
