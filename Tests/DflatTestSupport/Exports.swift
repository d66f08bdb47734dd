// Random tests get their generator together with the rest of the support.

@_exported public import SeededRandom
