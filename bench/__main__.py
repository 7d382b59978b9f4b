"""All benchmarks, one after the other: `python -m bench`."""

from bench import aws_calls, caps, chain, cold_start, export, fairness, latency, simulation


def main() -> None:
    aws_calls.main()
    cold_start.main()
    latency.main()
    chain.main()
    caps.main()
    export.main()
    fairness.main()
    simulation.main()


if __name__ == "__main__":
    main()
