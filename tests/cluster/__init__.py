"""A real GPU platform for tests and for the lab: built from Go modules, run as plain processes on loopback."""
