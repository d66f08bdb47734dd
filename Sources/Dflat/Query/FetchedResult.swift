// FetchedResult: the results of queries.

/// The maximum number of objects in a result.
public enum Limit: Sendable {
  case noLimit
  /// At most this many objects, from the beginning of the ordered result. Zero gives none; a
  /// negative number is a ``QueryError``.
  case limit(_: Int)
}

extension Limit: ExpressibleByIntegerLiteral {
  /// Makes `limit: 10` mean `limit: .limit(10)`.
  @inlinable
  public init(integerLiteral count: Int) { self = .limit(count) }
}

/// The objects that a query found, in order. It is immutable and may be shared between threads.
@frozen
public struct FetchedResult<Element: Atom>: RandomAccessCollection, Sendable {
  /// The objects.
  public let underlyingArray: [Element]
  @usableFromInline let source: Source

  @usableFromInline
  enum Source: Sendable {
    case program
    /// A fetch by key of committed data, which has found the object. Its origin is made when it is
    /// wanted, with the time of reading that the object has. The key in the object's bytes may be
    /// another one, in a damaged file.
    case key(KeyValues)
    case query(ResultOrigin)
  }

  /// Creates a result without a query. Only results of a workspace can be observed.
  @inlinable
  public init(_ array: [Element]) {
    self.init(array, .program)
  }

  @inlinable
  init(_ array: [Element], _ source: Source) {
    underlyingArray = array
    self.source = source
  }

  @inlinable
  init(_ array: [Element], _ origin: ResultOrigin) {
    self.init(array, .query(origin))
  }

  /// The query that gave this result; nil if the program has created it.
  @usableFromInline var origin: ResultOrigin? {
    switch source {
    case .program: nil
    case .key(let key): ResultOrigin(of: underlyingArray[0]._row, with: key, Element._schema)
    case .query(let origin): origin
    }
  }

  /// Always zero.
  @inlinable
  public var startIndex: Int { 0 }
  /// The number of objects.
  @inlinable
  public var endIndex: Int { underlyingArray.count }
  /// The object at a position.
  @inlinable
  public subscript(position: Int) -> Element { underlyingArray[position] }
  /// The objects at a range of positions.
  @inlinable
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> { underlyingArray[bounds] }
  /// The next position.
  @inlinable
  public func index(after i: Int) -> Int { i + 1 }
  /// Goes through the objects in order. Generic code, which is not compiled for the type, does so
  /// as fast as through an array.
  @inlinable
  public func makeIterator() -> IndexingIterator<[Element]> { underlyingArray.makeIterator() }
}

extension FetchedResult: CustomStringConvertible {
  /// What an array of the objects prints.
  public var description: String { underlyingArray.description }
}

extension FetchedResult: Equatable {
  /// Compares element by element.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.underlyingArray == rhs.underlyingArray
  }
}

/// How a query is answered.
public struct QueryExplanation: Sendable {
  /// The statement in the engine's language; nil if there is none.
  public let statement: String?
  /// The engine's own plan, one line per step.
  public let plan: [String]
  /// The keys and indexes that narrow or order the rows, by table name.
  public let indexes: [String]
  /// The fields of each of these keys and indexes, with the schema's names: `likes`,
  /// `archived, title nocase`.
  public let indexedFields: [String]
  /// Whether an index covers the query: it gives every value that is wanted, and no object is read.
  public let isCovering: Bool
  /// The condition that is evaluated row by row; nil if the statement covers it all.
  public let rowByRow: String?
  /// Whether the rows are sorted in memory.
  public let isSortedInMemory: Bool
  /// How the answer follows the data when it is watched.
  public package(set) var following = Following.maintained
  /// Why the question is asked again, in words: `editor has no index, …`. nil if the answer is
  /// maintained.
  public package(set) var reasonToAskAgain: String?

  /// Creates an explanation, for engines.
  package init(
    statement: String?, plan: [String], indexes: [String], of schema: EntitySchema,
    rowByRow: String?, isSortedInMemory: Bool, isCovering: Bool = false
  ) {
    self.statement = statement
    self.plan = plan
    self.indexes = indexes
    indexedFields = indexes.map { schema.fieldNames(ofIndex: $0) }
    self.isCovering = isCovering
    self.rowByRow = rowByRow
    self.isSortedInMemory = isSortedInMemory
  }
}
