"""The command line: arguments, output, exit status. The work is done below."""


def main() -> int:
    """Run the command line; return the exit status."""
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
