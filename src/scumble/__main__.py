"""python -m scumble."""

from scumble.cli import main

if __name__ == "__main__":
    main()
