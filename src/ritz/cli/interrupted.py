"""What is said after Ctrl-C, also before anything else is imported."""

INTERRUPTED = "Interrupted. Files are written as a whole or not at all, so none is half written."
