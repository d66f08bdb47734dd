// The choice between the ways to answer a query: by the indexes of single fields, or by one index
// with several columns.
//
// A compound index answers what its columns say: conditions on its first columns that fix a value
// narrow most, then a range of the next column. Conditions on further columns are tested in the
// index. If the columns behind those with a fixed value are those of the order, the index delivers
// the order, too. An index covers a query if it has the values of all fields that are wanted and
// nothing is left to be checked on rows; the objects are then not read.
//
// The way with more fixed columns is chosen, then the one with a range, then the one that covers,
// then the one that delivers the order of a limited query.

/// An index that answers a plan by itself.
package struct IndexScan: Sendable {
  /// The position of the index in the schema.
  package let index: Int
  /// How many of its first columns order the candidates; rows with equal values come by row id. If
  /// there are none, all candidates come by row id.
  package let orderedColumns: Int
  /// Whether greater values come first. Row ids are in ascending order nevertheless.
  package let isDescending: Bool
}

extension Plan {
  /// Chooses the way to answer a query.
  ///
  /// - Parameters:
  ///   - query: The query to plan.
  ///   - capabilities: What the engine can do.
  ///   - isUsable: Whether an index of the schema is complete for the state that will be read; the
  ///     full-text index has the position `EntitySchema.fullTextPosition`, an index of elements
  ///     that of `EntitySchema.elementPosition(_:)`.
  package init(
    _ query: Query, _ capabilities: QueryCapabilities, isUsable: (Int) throws -> Bool
  ) rethrows {
    let mentioned = query.mentionedIndexes
    let scans = Self.scans(of: query, capabilities)
    if scans.isEmpty {
      self.init(query, capabilities, usable: try mentioned.filter(isUsable))
      return
    }
    // Whether an index is usable takes a look at the file, so the best ones are asked first.
    let optimum = Plan(query, capabilities, usable: mentioned).cost
    if let best = try scans.first(where: { try $0.cost < optimum && isUsable($0.place) }) {
      self = best.plan
      return
    }
    let plan = Plan(query, capabilities, usable: try mentioned.filter(isUsable))
    let cost = plan.cost
    self =
      try scans.first { try $0.cost < cost && !($0.cost < optimum) && isUsable($0.place) }?.plan
      ?? plan
  }

  /// The plan with the primary key and the indexes of single fields.
  private init(_ query: Query, _ capabilities: QueryCapabilities, usable: [Int]) {
    let schema = query.schema
    let elements = schema.elementIndexes.indices
      .filter { capabilities.elements != nil && usable.contains(schema.elementPosition($0)) }
      .map { schema.elementIndexes[$0] }
    var planner = Planner(.indexes(usable), capabilities, elements: elements)
    var narrowing = query.condition.map { planner.narrow($0, negated: false) }
    if !elements.isEmpty, narrowing?.predicate?.isWithin(capabilities) == false {
      // Very many elements do not keep other indexes from being used.
      planner = Planner(.indexes(usable), capabilities)
      narrowing = query.condition.map { planner.narrow($0, negated: false) }
    }
    self.query = query
    textKeys = capabilities.textKeys
    if let narrowing, narrowing.predicate?.isWithin(capabilities) ?? true {
      predicate = narrowing.predicate
      residual = narrowing.rest(of: query, capabilities)
    } else {
      predicate = nil
      residual = query.condition
    }
    ranking = planner.ranking(query, predicate)
    isOrderedByEngine = ranking != nil || planner.canOrder(query, by: predicate)
    let term = isOrderedByEngine ? query.order.first : nil
    if case .index(let index)? = (term?.field ?? predicate?.onlyField)?.column {
      scan = IndexScan(
        index: index, orderedColumns: term == nil ? 0 : 1, isDescending: term?.isDescending ?? false
      )
    } else {
      scan = nil
    }
  }

  /// The plan with one index; nil if it is of no use.
  private init?(_ query: Query, _ capabilities: QueryCapabilities, scanning place: Int) {
    let index = query.schema.indexes[place]
    let planner = Planner(.columns(index.columns), capabilities)
    let narrowing = query.condition.map { planner.narrow($0, negated: false) }
    guard narrowing?.predicate?.isWithin(capabilities) ?? true else { return nil }
    self.query = query
    textKeys = capabilities.textKeys
    ranking = nil
    predicate = narrowing?.predicate
    residual = narrowing?.rest(of: query, capabilities)
    let covers = residual == nil && query.reading.map(index.covers) ?? false
    let order = query.order.isEmpty ? nil : planner.order(query, index.columns, predicate)
    // Without a range or a limit the whole index would be read, only to find each row by its id.
    isOrderedByEngine = order != nil && (predicate != nil || query.limit != nil || covers)
    scan = IndexScan(
      index: place, orderedColumns: isOrderedByEngine ? order?.columns ?? 0 : 0,
      isDescending: order?.isDescending ?? false)
  }

  /// The plans with one index that is found by its columns, the best first.
  private static func scans(
    of query: Query, _ capabilities: QueryCapabilities
  ) -> [(plan: Plan, place: Int, cost: PlanCost)] {
    let schema = query.schema
    guard capabilities.usesCompoundIndexes else { return [] }
    // For values alone the indexes of single fields are scanned, too.
    let places =
      query.reading.map { reading in
        schema.indexes.indices.filter {
          schema.indexes[$0].isCompound || schema.indexes[$0].covers(reading)
        }
      } ?? schema.compoundIndexes
    return places.compactMap { place in
      guard let plan = Plan(query, capabilities, scanning: place) else { return nil }
      let cost = plan.cost
      return cost < PlanCost() ? (plan, place, cost) : nil
    }.sorted { $0.cost == $1.cost ? $0.place < $1.place : $0.cost < $1.cost }
  }

  /// The positions of the columns of the scanned index, or of the primary key if none is scanned,
  /// that have the values of these fields; nil if the objects must be read.
  ///
  /// Columns have stored values: an enum's raw value, known to the schema or not; an unsigned
  /// number as its bit pattern; null for an unknown value and for NaN.
  package func covers(_ fields: [FieldDescriptor]) -> [Int]? {
    guard residual == nil, !isSortedInMemory else { return nil }
    guard let scan else {
      let positions = fields.compactMap { field -> Int? in
        guard case .key(let position)? = field.column else { return nil }
        return field.isTextOfKey && textKeys == .candidates ? nil : position
      }
      return positions.count == fields.count ? positions : nil
    }
    let index = query.schema.indexes[scan.index]
    let positions = fields.compactMap { index.position(of: $0) }
    return positions.count == fields.count ? positions : nil
  }

  /// Whether the index alone gives everything that the query asks.
  package var isCovered: Bool { query.reading.map { covers($0) != nil } ?? false }
}

extension Plan {
  /// The storage names of the keys and indexes that the plan uses, in the order of their use and
  /// none twice, for the explanation of an engine that looks them up itself.
  package var indexNames: [String] {
    let schema = query.schema
    if let scan { return [schema.indexes[scan.index].table] }
    let fields =
      if query.key != nil { schema.primaryKey } else {
        (predicate?.fields ?? []) + (isOrderedByEngine ? query.order.compactMap(\.field) : [])
      }
    return fields.reduce(into: []) { names, field in
      let name =
        switch field.column {
        case .key(let place): "__pk\(place)"
        case .index(let place): schema.indexes[place].table
        case nil: field.path
        }
      if !names.contains(name) { names.append(name) }
    }
  }
}

extension Planner.Narrowing {
  /// What is checked on the rows that an engine finds by the predicate; nil if all of them match.
  fileprivate func rest(of query: Query, _ capabilities: QueryCapabilities) -> Node? {
    if predicate == nil { return isExact ? nil : query.condition }
    return capabilities.isExact ? rest : query.condition
  }
}

extension IndexPredicate {
  /// The fields that it concerns.
  fileprivate var fields: [FieldDescriptor] {
    if let onlyField { return [onlyField] }
    return switch self {
    case .and(let parts), .or(let parts): parts.flatMap(\.fields)
    default: []
    }
  }
}

extension Planner {
  /// How many of an index's first columns are in the query's order, given those whose value the
  /// predicate fixes; nil if the index does not have that order.
  fileprivate func order(
    _ query: Query, _ columns: [IndexColumn], _ predicate: IndexPredicate?
  ) -> (columns: Int, isDescending: Bool)? {
    guard capabilities.canOrder else { return nil }
    let kinds = IndexPredicate.kinds(of: predicate)
    func isFixed(_ field: FieldDescriptor?) -> Bool {
      field.map { kinds[$0.path] == .fixed } ?? false
    }
    var terms = query.order.filter { !isFixed(field($0.node)) }[...]
    guard let first = terms.first else { return (0, false) }
    guard terms.allSatisfy({ $0.isDescending == first.isDescending && canOrder(by: $0) }) else {
      return nil
    }
    var count = 0
    for (place, column) in columns.enumerated() {
      guard let term = terms.first else { break }
      if field(term.node) == column.field {
        terms.removeFirst()
        count = place + 1
      } else if !isFixed(column.field) {
        return nil
      }
    }
    return terms.isEmpty ? (count, first.isDescending) : nil
  }
}

// MARK: Cost

/// How much a plan leaves to be read. Of several plans the one with the least cost is chosen.
private struct PlanCost: Comparable {
  /// The number of columns with fixed values; the greatest number for a key or unique value.
  var fixed = 0
  var hasRange = false
  var isCovered = false
  /// Whether reading stops at the limit.
  var isCutShort = false

  /// How much the plan narrows what is read: a greater rank is a lower cost.
  private var rank: (Int, Int, Int, Int) {
    (fixed, hasRange ? 1 : 0, isCovered ? 1 : 0, isCutShort ? 1 : 0)
  }

  static func < (left: PlanCost, right: PlanCost) -> Bool { right.rank < left.rank }

  static func == (left: PlanCost, right: PlanCost) -> Bool { left.rank == right.rank }

  /// The cost with conditions on the columns of a key or index, in their order.
  init(of columns: [FieldDescriptor], isUnique: Bool, _ kinds: [String: IndexPredicate.Kind]) {
    for column in columns {
      switch kinds[column.path] {
      case .fixed?, .values?:
        fixed += 1
        continue
      case .range?: hasRange = true
      case .test?, nil: break
      }
      return
    }
    if isUnique { fixed = .max }
  }

  init() {}
}

extension Plan {
  fileprivate var cost: PlanCost {
    let kinds = IndexPredicate.kinds(of: predicate)
    let schema = query.schema
    var best = PlanCost()
    func consider(_ fields: [FieldDescriptor], isUnique: Bool) {
      best = min(best, PlanCost(of: fields, isUnique: isUnique, kinds))
    }
    if let scan, schema.indexes[scan.index].isCompound {
      let index = schema.indexes[scan.index]
      consider(index.columns.map(\.field), isUnique: index.isUnique)
    } else if !kinds.isEmpty {
      consider(schema.primaryKey, isUnique: true)
      for index in schema.indexes
      where !index.isCompound && kinds[index.columns[0].name] != nil {
        consider([index.columns[0].field], isUnique: index.isUnique)
      }
    } else if predicate != nil {
      best.hasRange = true
    }
    // A search is expected to find few objects, as two fixed columns do.
    if predicate?.isSearch == true { best.fixed = max(best.fixed, 2) }
    // Elements are expected to be as few as one fixed column leaves.
    if predicate?.isAboutElements == true { best.fixed = max(best.fixed, 1) }
    best.isCovered = isCovered
    best.isCutShort = isOrderedByEngine && query.limit != nil
    return best
  }
}

extension IndexPredicate {
  /// What a condition on one column leaves of it.
  enum Kind: Int {
    case fixed, values, range, test
  }

  /// What the parts of a conjunction leave of their columns, by name.
  static func kinds(of predicate: IndexPredicate?) -> [String: Kind] {
    var kinds: [String: Kind] = [:]
    guard let predicate else { return kinds }
    let parts = if case .and = predicate { predicate.partsByField } else { [predicate] }
    for part in parts {
      if let field = part.onlyField { kinds[field.path] = part.kind }
    }
    return kinds
  }

  private var kind: Kind {
    switch self {
    case .never, .isNull, .compare(_, .equal, _): .fixed
    case .oneOf(_, let values): values.count == 1 ? .fixed : .values
    case .compare(_, .notEqual, _), .bits, .search, .contains: .test
    case .compare: .range
    case .and(let parts): parts.map(\.kind).min { $0.rawValue < $1.rawValue } ?? .test
    case .or(let parts): parts.contains { $0.kind == .test } ? .test : .range
    }
  }
}
