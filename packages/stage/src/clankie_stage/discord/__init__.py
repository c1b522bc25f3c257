"""A loopback Discord: gateway, REST, CDN, faults, a recording, and a page that shows its rooms."""
