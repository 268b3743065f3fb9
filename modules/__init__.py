"""What the program does with a model's answer: one `dspy.Module` per capability, and the program that combines them.

A module holds predictors and nothing else: sources, stores and sandbox come with the call, so that a module's state
is exactly what compiling may change.
"""
