"""How property tests run: the same examples every time, and no clock held against a busy machine."""

from hypothesis import settings

settings.register_profile("coatcheck", deadline=None, derandomize=True, database=None, max_examples=60)
settings.load_profile("coatcheck")
