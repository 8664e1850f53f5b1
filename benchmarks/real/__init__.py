"""Real data with defaults: ours and what users have."""
