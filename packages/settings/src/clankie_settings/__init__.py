"""What both services of Clankie must read alike: settings, paths, bounds, ids, clocks and the wire."""
