// A program that imports Silo writes conditions, which are Dflat's.

@_exported public import Dflat
