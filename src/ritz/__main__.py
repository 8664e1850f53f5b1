"""`python -m ritz` is the command line."""

from ritz.cli import main

if __name__ == "__main__":
    main()
