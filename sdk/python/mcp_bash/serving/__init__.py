"""The worker: a process that serves the functions of one file. Function files never import this."""
