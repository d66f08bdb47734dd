// A program that imports Silo writes conditions, which are Dflat's, and declares values with ids
// and dates, which are Foundation's.

@_exported public import Dflat
@_exported public import Foundation
// Conformances of public types name it: those of enums with integers as raw values.
@_exported public import protocol FlatBuffersRuntime.FlatBufferScalar
