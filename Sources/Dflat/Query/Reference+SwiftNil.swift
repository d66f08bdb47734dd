// Comparisons of references with nil that are no conditions.
//
// Swift compares optionals with nil. Such a comparison takes `Post.author == nil` as a `Bool` that
// is false for every object. Once `!` of a `Bool` fits, the compiler does not look at generic
// operators any more, unless something in that solution is unavailable. The operators here take the
// comparison before Swift's own does, because the reference need not become an optional for them,
// and require a conformance that is unavailable. So the compiler goes on and finds the condition.
//
// Fields have no such operators, because each negated comparison in a condition would multiply the
// time to type-check it. References are compared with nil less often.

/// Required for comparing a reference itself with nil. No type conforms.
public protocol ComparableWithSwiftNil {}

@available(
  *, unavailable,
  message: """
    as a Bool, a reference compared with nil is the same for every object: write 'isNull' or \
    'isNotNull'
    """
)
extension Reference: ComparableWithSwiftNil {}

@available(
  *, unavailable,
  message: """
    as a Bool, a reference compared with nil is the same for every object: write 'isNull' or \
    'isNotNull'
    """
)
extension UnionReference: ComparableWithSwiftNil {}

@available(
  *, unavailable,
  message: """
    as a Bool, a reference compared with nil is the same for every object: write 'isNull' or \
    'isNotNull'
    """
)
extension CompoundRelation: ComparableWithSwiftNil {}

/// A comparison with nil that is no condition: reports an error.
@inlinable
public func == <L: ComparableWithSwiftNil>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Bool { unavailableCall() }

/// A comparison with nil that is no condition: reports an error.
@inlinable
public func == <R: ComparableWithSwiftNil>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Bool { unavailableCall() }

/// A comparison with nil that is no condition: reports an error.
@inlinable
public func != <L: ComparableWithSwiftNil>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Bool { unavailableCall() }

/// A comparison with nil that is no condition: reports an error.
@inlinable
public func != <R: ComparableWithSwiftNil>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Bool { unavailableCall() }
