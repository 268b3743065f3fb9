"""The gate of compiling: a candidate is kept only if it is better on val and not worse on the holdout.

    >>> kept = decide(before=[0, 0, 1, 1, 0, 1], after=[1, 1, 1, 1, 0, 1], val_before=[0, 1, 0], val_after=[1, 1, 0])
    >>> kept.keep, kept.reason
    (True, 'better on val by 0.333 (n=3) and not worse on the holdout: 0.333 (n=6)')
    >>> decide(before=[1, 0], after=[1, 0], val_before=[1, 0], val_after=[1, 0]).reason
    'no better on val: 0.5 before and after (n=2)'

Scores are paired: the same examples in the same order, before and after. Whether they are worse is told by an exact
test of the flips (McNemar) where all scores are 0 or 1, else by a bootstrap over the pairs. It does not look at cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from finexpert.datasets.evaluations.evaluation import mcnemar, share
from finexpert.optimizers.program.decision import Decision, Flip, Score

# With the usual 0.05 every harm would pass that a small holdout cannot prove, and 4 examples lost of 4 would be one.
WORSE = 0.25
SAMPLES = 4000
_TIE = 1e-9
_TELLING = 0.1  # a holdout that shows only larger differences is called small


def decide(
    before: Sequence[float],
    after: Sequence[float],
    val_before: Sequence[float],
    val_after: Sequence[float],
    *,
    ids: Sequence[str] | None = None,
    keep_anyway: bool = False,
    seed: int = 0,
    samples: int = SAMPLES,
) -> Decision:
    """Judge a candidate by its paired scores on the holdout (`before`, `after`) and on val.

    A tie on val is kept out. `ids` name the examples of the holdout in the list of flips. Raises ValueError for
    scores that are missing, not finite or not paired.
    """
    gained = _difference(val_before, val_after, "val")
    decision = not_worse(before, after, ids=ids, seed=seed, samples=samples)
    was, is_, n = float(np.mean(val_before)), float(np.mean(val_after)), len(val_before)
    if abs(gained) < _TIE:
        reason = f"no better on val: {was:.3g} before and after (n={n})"
    elif gained < 0:
        reason = f"worse on val: {was:.3g} before, {is_:.3g} after (n={n})"
    elif not decision.passed:
        reason = f"better on val by {gained:.3g} (n={n}), but {decision.reason}"
    else:
        reason = f"better on val by {gained:.3g} (n={n}) and {decision.reason}"
    passed = decision.passed and gained >= _TIE
    update = {"passed": passed, "keep": passed, "reason": reason, "val_difference": gained, "val_n": n}
    return overruled(decision.model_copy(update=update)) if keep_anyway else decision.model_copy(update=update)


def not_worse(
    before: Sequence[float],
    after: Sequence[float],
    *,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    samples: int = SAMPLES,
) -> Decision:
    """Judge paired scores by the test alone: for the combined program, and for what is cheaper and must lose nothing.

    >>> not_worse([1, 1, 1, 1], [0, 0, 0, 1]).reason
    'worse on the holdout: -0.75 (n=4, one-sided p=0.125)'
    """
    difference = _difference(before, after, "the holdout")
    if ids is not None and len(ids) != len(before):
        raise ValueError(f"there are {len(ids)} ids for {len(before)} scores of the holdout")
    if samples < 2000:
        raise ValueError(f"samples is {samples}: an interval by bootstrap needs at least 2000")
    gains = np.asarray(after, dtype=float) - np.asarray(before, dtype=float)
    means = _resampled_means(gains, seed, samples)
    low, high = (float(x) for x in np.quantile(means, (0.025, 0.975)))
    exact = _right_or_wrong(before) and _right_or_wrong(after)
    p, p_worse = _by_flips(before, after) if exact else _by_bootstrap(difference, means)
    worse = difference < -_TIE and p_worse <= WORSE
    size = f"n={len(gains)}, one-sided p={p_worse:.3g}" if difference < -_TIE else f"n={len(gains)}"
    return Decision(
        keep=not worse,
        passed=not worse,
        reason=f"{'worse' if worse else 'not worse'} on the holdout: {difference:.3g} ({size})",
        test="mcnemar" if exact else "bootstrap",
        difference=difference,
        interval=(low, high),
        p=p,
        p_worse=p_worse,
        n=len(gains),
        flips=_flips(before, after, ids),
        note=_power(gains),
    )


def overruled(decision: Decision) -> Decision:
    """The decision kept against the gate; it says so for good.

    >>> overruled(not_worse([1, 1], [0, 0])).reason
    'kept anyway: worse on the holdout: -1 (n=2, one-sided p=0.25)'
    """
    if decision.passed:
        return decision
    return decision.model_copy(update={"keep": True, "overruled": True, "reason": f"kept anyway: {decision.reason}"})


def score(values: Sequence[float], *, seed: int = 0, samples: int = SAMPLES) -> Score:
    """Mean and interval of the scores of one program.

    >>> s = score([1, 1, 0, 1]); s.mean, s.n, round(s.low, 2), round(s.high, 2)
    (0.75, 4, 0.3, 0.95)
    """
    _difference(values, values, "the scores")
    if _right_or_wrong(values):
        of = share(int(sum(values)), len(values))
        return Score(mean=of.share, n=of.n, low=of.low, high=of.high)
    means = _resampled_means(np.asarray(values, dtype=float), seed, samples)
    low, high = (float(x) for x in np.quantile(means, (0.025, 0.975)))
    return Score(mean=float(np.mean(values)), n=len(values), low=low, high=high)


def _difference(before: Sequence[float], after: Sequence[float], where: str) -> float:
    if len(before) != len(after):
        raise ValueError(f"{where} has {len(before)} scores before and {len(after)} after: they must be paired")
    if not len(before):
        raise ValueError(f"{where} has no scores")
    if not all(map(math.isfinite, [*before, *after])):
        raise ValueError(f"{where} has a score that is not finite")
    # fsum: two programs with the same scores in another order are exactly equal.
    return (math.fsum(after) - math.fsum(before)) / len(before)


def _right_or_wrong(values: Sequence[float]) -> bool:
    return all(value in (0, 1) for value in values)


def _resampled_means(values: NDArray[np.float64], seed: int, samples: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).integers(0, len(values), size=(samples, len(values)))
    means: NDArray[np.float64] = values[drawn].mean(axis=1)
    return means


def _by_flips(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    lost, won, p = mcnemar([value == 1 for value in before], [value == 1 for value in after])
    one_sided = float(binomtest(lost, lost + won, alternative="greater").pvalue) if lost > won else 1.0
    return p, one_sided


def _by_bootstrap(difference: float, means: NDArray[np.float64]) -> tuple[float, float]:
    below, above = ((int((sign * means >= 0).sum()) + 1) / (len(means) + 1) for sign in (1, -1))
    return min(1.0, 2 * min(below, above)), below if difference < -_TIE else 1.0


def _flips(before: Sequence[float], after: Sequence[float], ids: Sequence[str] | None) -> list[Flip]:
    names = ids if ids is not None else [str(number) for number in range(1, len(before) + 1)]
    pairs = zip(names, before, after, strict=True)
    return [Flip(name, float(a), float(b)) for name, a, b in pairs if abs(a - b) >= _TIE]


def _power(gains: NDArray[np.float64]) -> str:
    """A note where differences of a tenth would not show (80 % power at 5 %, two-sided).

    >>> _power(np.array([0.0, 1.0, -1.0, 0.0]))
    'n=4 is too small to tell a difference below 1.14'
    """
    n = len(gains)
    spread = float(np.std(gains, ddof=1)) if n > 1 else 0.0
    # Where nothing flipped, up to 3/n may still flip (95 %).
    least = 2.8 * spread / math.sqrt(n) if spread > _TIE else 3 / n
    return f"n={n} is too small to tell a difference below {least:.2f}" if least > _TELLING else ""
