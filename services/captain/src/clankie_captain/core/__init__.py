"""Pure decisions: no clock, no store, no network; the shell gathers, asks here, and applies the answer."""
