"""`ritz` and `python -m ritz`: the command line, or what to install for it."""

from importlib.util import find_spec

NEEDED = ("joblib", "matplotlib", "rich", "typer")


def main() -> None:
    """Run the command line."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(
            f"The ritz command needs {', '.join(missing)}: pip install 'ritz[reproduce]'."
        )
    from ritz.cli import app

    app()


if __name__ == "__main__":
    main()
