"""Pure decisions of the bridge: records in, records out; no clock, no network, no log."""
