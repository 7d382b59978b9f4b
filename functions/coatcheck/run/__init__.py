"""What touches the clock, threads and the environment."""
