"""How a plan runs: operations, formulas, units, execution, checks."""
