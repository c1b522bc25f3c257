"""The desk that accepts, the registry that runs, and the runner of one run."""
