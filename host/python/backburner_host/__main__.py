"""`python -m backburner_host`: the server, or what a process of a job calls."""

import sys


def main() -> None:
    """Do what the command line says."""
    words = sys.argv[1:]
    # What a job's processes call does not load the server.
    if words[:1] in (["ask"], ["progress"]):
        from . import inside

        sys.exit(inside.main(words))
    from . import serve

    serve.main()


if __name__ == "__main__":
    main()
