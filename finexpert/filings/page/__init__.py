"""One page of a filing: tables, cells, labels, numbers, units, quotes."""
