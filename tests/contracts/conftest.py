"""The captain of these tests is the real application, served over HTTP on loopback."""

from tests.captain.api.conftest import captain, restart

__all__ = ["captain", "restart"]
