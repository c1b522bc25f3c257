"""Pictures: fetched from outside, decoded, kept by their content, and the guard of everything fetched."""
