// AccessPath: the field values under which a subscription is registered.
//
// The access paths of a condition cover it: each row that satisfies the condition has a value under
// at least one of the paths. So rows under none of them need not be evaluated. A set of paths
// ("net") is exact if every row under it satisfies the condition; otherwise the condition itself is
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
  static func net(_ condition: Node?) -> Net? {
    guard let condition, let narrowing = Query.narrowing(condition) else { return nil }
    guard let net = net(narrowing.predicate), net.paths.count <= pathLimit else { return nil }
    return Net(paths: net.paths, isExact: net.isExact && narrowing.isExact && net.paths.count <= 1)
  }

  struct Net {
    var paths: [AccessPath]
    var isExact: Bool
  }

  /// The largest number of paths under which one subscription is registered.
  private static let pathLimit = 256

  private static func net(_ predicate: IndexPredicate) -> Net? {
    switch predicate {
    case .never: return Net(paths: [], isExact: true)
    case .compare(let field, let comparison, let value):
      return compare(field, comparison, value)
    case .oneOf(let field, let values):
      return Net(paths: values.map { .equal(field, $0) }, isExact: true)
    case .isNull(let field): return Net(paths: [.null(field)], isExact: true)
    case .bits, .search, .contains: return nil
    case .or(let parts):
      var union = Net(paths: [], isExact: true)
      for part in parts {
        guard let net = net(part) else { return nil }
        union.paths += net.paths
        union.isExact = union.isExact && net.isExact
      }
      return union
    case .and(let parts): return all(parts)
    }
  }

  private static func compare(
    _ field: FieldDescriptor, _ comparison: ComparisonOperator, _ value: Value
  ) -> Net? {
    let key = OrderKey.key(value, field.type)
    let isText = field.type == .string
    func range(_ range: ClosedRange<UInt64>) -> Net {
      Net(paths: [.range(field, range)], isExact: !isText)
    }
    switch comparison {
    case .equal: return Net(paths: [.equal(field, value)], isExact: true)
    case .notEqual:
      guard case .bool(let value) = value else { return nil }
      return Net(paths: [.equal(field, .bool(!value))], isExact: true)
    case .lessOrEqual: return range(0...key)
    case .greaterOrEqual: return range(key...UInt64.max)
    // Strings with a common prefix share a key, but need not be equal.
    case .less:
      if isText { return range(0...key) }
      return key == 0 ? Net(paths: [], isExact: true) : range(0...key - 1)
    case .greater:
      if isText { return range(key...UInt64.max) }
      return key == .max ? Net(paths: [], isExact: true) : range(key + 1...UInt64.max)
    }
  }

  /// The narrowest of the given nets; each of them alone covers the condition. Ranges of the same
  /// field are intersected.
  private static func all(_ parts: [IndexPredicate]) -> Net? {
    var nets: [Net] = []
    var rest = false
    for part in parts {
      guard let net = net(part) else {
        rest = true
        continue
      }
      if net.paths.isEmpty { return net }
      guard net.paths.count == 1, case .range(let field, let range) = net.paths[0],
        let other = nets.firstIndex(where: { $0.isRange(of: field) }),
        case .range(_, let known) = nets[other].paths[0]
      else {
        nets.append(net)
        continue
      }
      if range.upperBound < known.lowerBound || known.upperBound < range.lowerBound {
        return Net(paths: [], isExact: true)
      }
      nets[other].paths = [.range(field, range.clamped(to: known))]
      nets[other].isExact = nets[other].isExact && net.isExact
    }
    guard var best = nets.min(by: { $0.width < $1.width }) else { return nil }
    best.isExact = best.isExact && nets.count == 1 && !rest
    return best
  }
}

extension AccessPath.Net {
  fileprivate func isRange(of field: FieldDescriptor) -> Bool {
    guard paths.count == 1, case .range(let own, _) = paths[0] else { return false }
    return own == field
  }

  /// An estimate of how many rows are in the net.
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
