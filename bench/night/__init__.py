"""A deadline night as a model: what comes in, who is let in, who may be in flight, whom the queue serves first."""
