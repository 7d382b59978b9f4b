"""One thin file for each Lambda function: parse, call, answer."""

import gc

# A cold start makes hundreds of thousands of objects that all stay: looking through them for garbage with every 700
# new ones finds nothing, and takes a noticeable part of its time.
gc.set_threshold(100_000, 20, 20)
