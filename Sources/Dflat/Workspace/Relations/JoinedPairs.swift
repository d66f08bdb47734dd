// JoinedPairs: a join as data, and how its pairs are found.
//
//  - The first objects are read, then the second ones that have their values, with a table of the
//    values in between.
//  - It holds no workspace, so a subscription may keep it.

import FlatBuffersRuntime

/// A join as data.
struct JoinedPairs<Left: Atom, Right: Atom>: Sendable {
  let left: Query
  let right: Query
  /// The values that are equal: each of the first objects with that of the second at its place.
  let values: (left: [ValueExpression], right: [ValueExpression])

  /// The types that the pairs depend on.
  var types: [EntitySchema] {
    [left.schema, right.schema] + left.relatedTypes + right.relatedTypes
  }

  func fetch(in core: WorkspaceCore) throws -> [(Left, Right)] {
    try requireOwnValues()
    return try core.fetchWithinASnapshot { () throws -> [(Left, Right)] in
      let (firsts, places, table) = try firsts(in: core)
      let seconds = try self.seconds(matching: table, in: core)
      return zip(firsts, places).flatMap { first, place in
        place.map { seconds[$0].map { (first, $0) } } ?? []
      }
    }
  }

  func explain(
    in core: WorkspaceCore
  ) throws -> (first: QueryExplanation, second: QueryExplanation) {
    try requireOwnValues()
    return try core.fetchWithinASnapshot { () throws in
      let second = query(matching: try firsts(in: core).table)
      return (
        try core.explain(left).askedAgain(because: reasonToAskAgain),
        try core.explain(second).askedAgain(because: reasonToAskAgain)
      )
    }
  }

  /// Why the pairs are asked again when they are watched.
  var reasonToAskAgain: String { "an object may have any number of partners" }

  private func requireOwnValues() throws {
    if (values.left + values.right).contains(where: \.node.followsRelations) {
      throw QueryError(
        .unsupportedRelation,
        "\(Left._schema.layout.swiftName) and \(Right._schema.layout.swiftName) were joined on a value of a third object",
        "join on fields of the two types, and ask about the third by a condition")
    }
  }

  /// The first objects, the places of their values in a table, and the table.
  private func firsts(
    in core: WorkspaceCore
  ) throws -> (objects: [Left], places: [Int?], table: GroupTable) {
    let firsts = try core.fetch(left).map { Left(_row: $0) }
    let readers = ExpressionReaders(values.left)
    var table = GroupTable()
    let places = firsts.map { place(of: $0._row, readers, &table) }
    try readers.throwFailure(Left._schema)
    return (Array(firsts), places, table)
  }

  /// The query for the second objects that have one of the values.
  private func query(matching wanted: GroupTable) -> Query {
    // Above that, looking each object up costs no more. A limited query has its own objects.
    if wanted.count > 10_000 || right.isCut { return right }
    // What has each value by itself may still not have them together.
    let keys = (0..<wanted.count).map { wanted.keys(of: $0, values.right.map(\.type)) }
    var condition = right.condition
    for (place, value) in values.right.enumerated() {
      let known = Set(keys.compactMap { $0[place].map(StoredKey.init) }).map(\.value)
      let isOne = Node.membership(value.node, known, value.type, negated: false)
      condition = condition.map { .conjunction($0, isOne) } ?? isOne
    }
    return right.with(condition, right.order)
  }

  /// The second objects for each of the values that first objects have.
  private func seconds(
    matching wanted: GroupTable, in core: WorkspaceCore
  ) throws -> [[Right]] {
    let readers = ExpressionReaders(values.right)
    var table = wanted
    var found = [[Right]](repeating: [], count: wanted.count)
    for second in try core.fetch(query(matching: wanted)).map({ Right(_row: $0) }) {
      guard let place = place(of: second._row, readers, &table), place < found.count else {
        continue
      }
      found[place].append(second)
    }
    try readers.throwFailure(Right._schema)
    return found
  }

  private func place(
    of row: Row, _ readers: ExpressionReaders, _ table: inout GroupTable
  ) -> Int? {
    readers.withValues(of: row) { values in
      if values.indices.contains(where: { isWithoutEqual(values[$0], at: $0) }) { return nil }
      return table.group(values[...])
    }
  }

  /// Whether no value of the other objects can be equal: it is unknown, or an integer that does not
  /// fit their type. The greater half of the unsigned integers has the bits of negative ones.
  private func isWithoutEqual(_ value: ColumnValue, at place: Int) -> Bool {
    switch value {
    case .null: true
    case .integer(let number) where number < 0:
      (values.left[place].type == .uint64) != (values.right[place].type == .uint64)
    default: false
    }
  }
}
