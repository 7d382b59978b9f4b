"""Benchmarks: what is compared is measured side by side, so that the ratios mean something on any machine."""
