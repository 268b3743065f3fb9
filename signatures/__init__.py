"""What a language model is asked: one file per capability, one class per instruction.

All wording that a model reads stands here, in docstrings and field descriptions, where compiling can change it.
"""
