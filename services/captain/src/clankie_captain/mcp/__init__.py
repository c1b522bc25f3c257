"""Servers of tools: started, watched and asked over the Model Context Protocol."""
