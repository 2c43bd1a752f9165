"""The worker: a process that serves the functions of one file. Files of a person never import this."""
