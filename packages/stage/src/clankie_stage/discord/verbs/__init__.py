"""What a test or the page can do to the stage, by theme."""
