// AccessPath: the field values under which a subscription is registered.
//
// The access paths of a condition cover it: each row that satisfies the condition has a value under
// at least one of the paths. So rows under none of them need not be evaluated. A set of paths
// is exact if every row under it satisfies the condition; otherwise the condition itself is
// evaluated.
//
// The query planner derives what a condition implies for each field. Here it may use every field,
// not only indexed ones, because a row's bytes contain all of them.

enum AccessPath {
  /// The field has this value.
  case equal(FieldDescriptor, Value)
  /// The field's key is in a range.
  case range(FieldDescriptor, ClosedRange<UInt64>)
  /// The field has no value.
  case null(FieldDescriptor)

  /// The access paths of a condition.
  /// - Returns: nil if every changed row must be evaluated.
  static func covered(_ condition: Node?) -> CoveredValues? {
    guard let condition, let narrowing = Query.narrowing(condition) else { return nil }
    guard let covered = covered(narrowing.predicate), covered.paths.count <= pathLimit else {
      return nil
    }
    return CoveredValues(
      paths: covered.paths,
      isExact: covered.isExact && narrowing.isExact && covered.paths.count <= 1)
  }

  struct CoveredValues {
    var paths: [AccessPath]
    var isExact: Bool
  }

  /// The largest number of paths under which one subscription is registered.
  private static let pathLimit = 256

  private static func covered(_ predicate: IndexPredicate) -> CoveredValues? {
    switch predicate {
    case .never: return CoveredValues(paths: [], isExact: true)
    case .compare(let field, let comparison, let value):
      return compare(field, comparison, value)
    case .oneOf(let field, let values):
      return CoveredValues(paths: values.map { .equal(field, $0) }, isExact: true)
    case .isNull(let field): return CoveredValues(paths: [.null(field)], isExact: true)
    case .bits, .search, .contains: return nil
    case .or(let parts):
      var union = CoveredValues(paths: [], isExact: true)
      for part in parts {
        guard let covered = covered(part) else { return nil }
        union.paths += covered.paths
        union.isExact = union.isExact && covered.isExact
      }
      return union
    case .and(let parts): return all(parts)
    }
  }

  private static func compare(
    _ field: FieldDescriptor, _ comparison: ComparisonOperator, _ value: Value
  ) -> CoveredValues? {
    let key = OrderKey.key(value, field.type)
    let isText = field.type == .string
    func range(_ range: ClosedRange<UInt64>) -> CoveredValues {
      CoveredValues(paths: [.range(field, range)], isExact: !isText)
    }
    switch comparison {
    case .equal: return CoveredValues(paths: [.equal(field, value)], isExact: true)
    case .notEqual:
      guard case .bool(let value) = value else { return nil }
      return CoveredValues(paths: [.equal(field, .bool(!value))], isExact: true)
    case .lessOrEqual: return range(0...key)
    case .greaterOrEqual: return range(key...UInt64.max)
    // Strings with a common prefix share a key, but need not be equal.
    case .less:
      if isText { return range(0...key) }
      return key == 0 ? CoveredValues(paths: [], isExact: true) : range(0...key - 1)
    case .greater:
      if isText { return range(key...UInt64.max) }
      return key == .max ? CoveredValues(paths: [], isExact: true) : range(key + 1...UInt64.max)
    }
  }

  /// The narrowest of the given covers; each of them alone covers the condition. Ranges of the same
  /// field are intersected.
  private static func all(_ parts: [IndexPredicate]) -> CoveredValues? {
    var covers: [CoveredValues] = []
    var rest = false
    for part in parts {
      guard let covered = covered(part) else {
        rest = true
        continue
      }
      if covered.paths.isEmpty { return covered }
      guard covered.paths.count == 1, case .range(let field, let range) = covered.paths[0],
        let other = covers.firstIndex(where: { $0.isRange(of: field) }),
        case .range(_, let known) = covers[other].paths[0]
      else {
        covers.append(covered)
        continue
      }
      if range.upperBound < known.lowerBound || known.upperBound < range.lowerBound {
        return CoveredValues(paths: [], isExact: true)
      }
      covers[other].paths = [.range(field, range.clamped(to: known))]
      covers[other].isExact = covers[other].isExact && covered.isExact
    }
    guard var best = covers.min(by: { $0.width < $1.width }) else { return nil }
    best.isExact = best.isExact && covers.count == 1 && !rest
    return best
  }
}

extension AccessPath.CoveredValues {
  fileprivate func isRange(of field: FieldDescriptor) -> Bool {
    guard paths.count == 1, case .range(let own, _) = paths[0] else { return false }
    return own == field
  }

  /// An estimate of how many rows are covered.
  fileprivate var width: Double {
    paths.reduce(0) { width, path in
      switch path {
      case .equal(let field, _): width + (field.type == .bool ? 1e6 : 1)
      case .range(_, let range):
        width + 1e3 + 1e6 * Double(range.upperBound - range.lowerBound) / Double(UInt64.max)
      case .null: width + 1e6
      }
    }
  }
}

extension AccessPath {
  var field: FieldDescriptor {
    switch self {
    case .equal(let field, _), .range(let field, _), .null(let field): field
    }
  }
}
