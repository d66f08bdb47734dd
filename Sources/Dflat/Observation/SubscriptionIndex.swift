// SubscriptionIndex: whom a change concerns.
//
// Observers of objects are found by row id. Observers of results are found by the values of the changed row, before and after:
// for each field that any of them is registered under there is a table of values, a structure of ranges, and a list for the
// unknown. Only those whose condition leaves no such path are looked at for every change.
//
// So what a change costs depends on whom it concerns, and on the number of fields, and not on how many observe other things.
// See FieldIndex, KeyTable and IntervalIndex.

struct SubscriptionIndex: ~Copyable {
  private var objects = KeyTable<ObjectObserver>()
  private var fields: [FieldIndex] = []
  /// Those that are looked at for every change.
  private var others: [ResultObserver] = []

  /// Whom the changes of a transaction touch.
  struct Touched {
    var objects: [ObjectObserver] = []
    var results: [ResultObserver] = []
    /// What they knew, to be let go of when they have been told.
    var replaced = ReplacedRows()
  }

  // MARK: Registering

  mutating func insert(_ observer: Observer) {
    observer.isRegistered = true
    switch observer {
    case let object as ObjectObserver:
      objects.insert(UInt64(bitPattern: object.row.id), object)
    case let result as ResultObserver:
      let net = AccessPath.net(result.query.condition)
      result.prepare(net)
      guard let net else {
        result.place = others.count
        others.append(result)
        return
      }
      for path in net.paths { index(of: path.field).insert(path, result) }
    default: preconditionFailure("an observer of nothing")
    }
  }

  mutating func remove(_ observer: Observer) {
    guard observer.isRegistered else { return }
    observer.isRegistered = false
    switch observer {
    case let object as ObjectObserver:
      objects.remove(UInt64(bitPattern: object.row.id), object)
    case let result as ResultObserver:
      guard let net = AccessPath.net(result.query.condition) else {
        let last = others.removeLast()
        if last !== result {
          others[result.place] = last
          last.place = result.place
        }
        return
      }
      for path in net.paths {
        let index = index(of: path.field)
        index.remove(path, result)
        if index.isEmpty { fields.removeAll { $0 === index } }
      }
    default: break
    }
  }

  private mutating func index(of field: FieldDescriptor) -> FieldIndex {
    if let index = fields.first(where: { $0.reader.field == field }) { return index }
    let index = FieldIndex(field)
    fields.append(index)
    return index
  }

  /// Everybody, once each.
  var all: [Observer] {
    var all: [Observer] = others
    objects.forEach { all.append($0) }
    var seen: Set<ObjectIdentifier> = []
    for field in fields {
      // One may be under several paths.
      field.forEach { if seen.insert(ObjectIdentifier($0)).inserted { all.append($0) } }
    }
    return all
  }

  // MARK: Finding

  func touched(by changes: UnsafeBufferPointer<RowChange>) -> Touched {
    var touched = Touched()
    guard let start = changes.baseAddress else { return touched }
    if !objects.isEmpty {
      for index in changes.indices {
        objects[UInt64(bitPattern: changes[index].id)].forEach { observer in
          observer.apply(changes[index].new, &touched.replaced)
          touched.objects.append(observer)
        }
      }
    }
    if !fields.isEmpty { find(start, changes.count, &touched.results) }
    for observer in others {
      for index in changes.indices where observer.meet(start + index, index, .both, nil) {
        touched.results.append(observer)
      }
    }
    return touched
  }

  /// How many rows are read before the first of them is looked up. Rows that were written a while ago have left the processor's
  /// caches; reading them one behind the other, it waits for several at a time.
  private static let readTogether = 16

  /// Shows changes to those who are found by fields.
  private func find(
    _ changes: UnsafePointer<RowChange>, _ count: Int, _ touched: inout [ResultObserver]
  ) {
    let width = fields.count
    withUnsafeTemporaryAllocation(
      of: ColumnValue.self, capacity: width * min(count, Self.readTogether)
    ) { values in
      var start = 0
      while start < count {
        let end = min(start + Self.readTogether, count)
        for place in 0..<width {
          let field = fields[place]
          for index in start..<end {
            values.initializeElement(
              at: (index &- start) &* width &+ place, to: field.value(in: changes + index))
          }
        }
        // Change by change: an observer that is found under several fields meets each change once.
        for index in start..<end {
          for place in 0..<width {
            let value = values[(index &- start) &* width &+ place]
            Unmanaged.passUnretained(fields[place])._withUnsafeGuaranteedRef {
              $0.find(changes + index, index, value, &touched)
            }
          }
        }
        start = end
      }
    }
  }
}
