"""Properties are judged by what holds, not by how long a shared machine took to show it."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
