"""The page that shows the rooms: a few plain files, no request to anywhere else."""
