"""The `clankie` command: it runs the services as processes, and asks the captain how he is."""
