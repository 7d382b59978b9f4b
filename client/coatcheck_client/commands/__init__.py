"""The commands of `coatcheck`, by what they are about."""
