"""pass^k of a published benchmark run, with intervals.

    python examples/published_runs/tau_bench.py

50 airline tasks x 4 trials of gpt-4o, github.com/sierra-research/tau-bench (MIT); printed there: .420 .273 .220 .200.
"""

from __future__ import annotations

from pytest_swapgate.stats import pass_hat_k, pass_hat_k_interval

TRIALS = 4
# successes of tasks 0 to 49
SUCCESSES = [int(digit) for digit in "01100111000142021140430040220122003443413241222144"]


def figures() -> list[float]:
    """pass^1 to pass^4."""
    return [pass_hat_k(SUCCESSES, TRIALS, k) for k in range(1, TRIALS + 1)]


def main() -> None:
    for k, value in enumerate(figures(), start=1):
        low, high = pass_hat_k_interval(SUCCESSES, TRIALS, k)
        print(
            f"pass^{k}  {value:.3f}  95 % [{low:.3f}, {high:.3f}]   {len(SUCCESSES)} tasks x {TRIALS} trials"
        )


if __name__ == "__main__":
    main()
