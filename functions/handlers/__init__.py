"""One thin file per Lambda: parse, call, answer."""
