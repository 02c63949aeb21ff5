"""The judge: whether a published table keeps its promises, from its cells alone.

It shares no code with what makes releases. Beside `errors` and `arrays` it may import the names of published columns
(`values.notation`), readers of files (`files`) and the amount of memory (`settings.memory`); of configurations,
hierarchies and privacy models it reads plain fields.
"""
