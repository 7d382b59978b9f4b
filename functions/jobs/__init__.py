"""One file per kind of job: a team works only here."""
