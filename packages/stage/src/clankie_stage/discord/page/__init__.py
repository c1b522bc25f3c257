"""The page that shows the rooms: three plain files, no request to anywhere else."""
