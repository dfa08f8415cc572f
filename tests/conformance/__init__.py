"""Our arithmetic, order and choices against the real Kueue."""
