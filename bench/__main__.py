"""All benchmarks, one after the other: `python -m bench`."""

from bench import aws_calls, export


def main() -> None:
    aws_calls.main()
    export.main()


if __name__ == "__main__":
    main()
