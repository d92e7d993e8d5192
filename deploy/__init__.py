"""Putting the parts together and running them: the command line, the supervisor, production files."""
