// What a check of a file has found is the same for tools and for programs. A program that imports
// the tools needs no other import for it.

@_exported public import SQLiteDflat

/// What a check of a file has found.
public typealias CheckReport = SQLiteDflat.CheckReport
/// Something that a check of a file has found.
public typealias CheckFinding = SQLiteDflat.CheckFinding
