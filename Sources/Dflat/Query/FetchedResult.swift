// FetchedResult: what queries give.

/// How many objects a query gives at most.
public enum Limit: Sendable {
  case noLimit
  /// The first ones of the ordered result. Zero and less give none.
  case limit(_: Int)
}

extension Limit: ExpressibleByIntegerLiteral {
  /// `limit: 10` is `limit: .limit(10)`.
  @inlinable
  public init(integerLiteral count: Int) { self = .limit(count) }
}

/// The objects that a query found, in order. It is immutable and may be shared between threads.
@frozen
public struct FetchedResult<Element: Atom>: RandomAccessCollection, Sendable {
  /// The objects.
  public let underlyingArray: [Element]
  /// Where it comes from; nil if it was made by hand.
  @usableFromInline let origin: ResultOrigin?

  /// A result made by hand. Only results of a workspace can be observed.
  @inlinable
  public init(_ array: [Element]) {
    underlyingArray = array
    origin = nil
  }

  @inlinable
  init(_ array: [Element], _ origin: ResultOrigin) {
    underlyingArray = array
    self.origin = origin
  }

  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }
  /// The number of objects.
  @inlinable
  public var endIndex: Int { underlyingArray.count }
  /// The object at a position.
  @inlinable
  public subscript(position: Int) -> Element { underlyingArray[position] }
  /// The objects at some positions.
  @inlinable
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> { underlyingArray[bounds] }
}

extension FetchedResult: Equatable {
  /// Element by element.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.underlyingArray == rhs.underlyingArray
  }
}

/// How a query is answered.
public struct QueryExplanation: Sendable {
  /// The statement in the engine's language; nil if it has none.
  public let statement: String?
  /// The engine's own plan, a line per step.
  public let plan: [String]
  /// The keys and indexes that narrow or order the rows, by table name.
  public let indexes: [String]
  /// What is evaluated row by row on bytes; nil if the statement says it all.
  public let rowByRow: String?
  /// Whether rows are sorted in memory after they were found.
  public let isSortedInMemory: Bool

  /// An explanation, as an engine gives it.
  public init(
    statement: String?, plan: [String], indexes: [String], rowByRow: String?,
    isSortedInMemory: Bool
  ) {
    self.statement = statement
    self.plan = plan
    self.indexes = indexes
    self.rowByRow = rowByRow
    self.isSortedInMemory = isSortedInMemory
  }
}
