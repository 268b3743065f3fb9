"""The semantic model of a warehouse, as a file that people review: `trades.model.yaml`.

It says what tables and columns mean, which keys join them, which metrics there are, which values of a column a language model may see,
and by which column the rows of a table are dated. The form is that of the Open Semantic Interchange core spec.
"""
