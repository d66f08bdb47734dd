// SubscriptionIndex: finds the observers that a change touches.
//
// Observers of objects are found by row id. Observers of results are found by the values of the
// changed row, before and after the change: each field that has registered observers has a table of
// values, a structure of ranges, and a list for the unknown value. Only observers whose condition
// yields no such access path look at every change.
//
// So the cost of a change depends on the number of observers that it touches and on the number of
// fields, not on the number of observers of other data. See FieldIndex, KeyTable and IntervalIndex.

struct SubscriptionIndex: ~Copyable {
  private var objects = KeyTable<ObjectObserver>()
  private var fields: [FieldIndex] = []
  /// The observers that look at every change.
  private var others: [QueryObserver] = []

  /// The observers that the changes of a transaction touch.
  struct Touched {
    var objects: [ObjectObserver] = []
    var results: [QueryObserver] = []
    /// Their previous rows, to be released after the handlers were called.
    var replaced = ReplacedRows()
  }

  // MARK: Registering

  mutating func insert(_ observer: Observer) {
    observer.isRegistered = true
    switch observer {
    case let object as ObjectObserver:
      objects.insert(UInt64(bitPattern: object.row.id), object)
    case let result as QueryObserver:
      let covered = result.covered
      result.prepare(covered)
      guard let covered else {
        result.place = others.count
        others.append(result)
        return
      }
      for path in covered.paths { index(of: path.field).insert(path, result) }
    default: preconditionFailure("an observer of an unknown kind")
    }
  }

  mutating func remove(_ observer: Observer) {
    guard observer.isRegistered else { return }
    observer.isRegistered = false
    switch observer {
    case let object as ObjectObserver:
      objects.remove(UInt64(bitPattern: object.row.id), object)
    case let result as QueryObserver:
      guard let covered = result.covered else {
        let last = others.removeLast()
        if last !== result {
          others[result.place] = last
          last.place = result.place
        }
        return
      }
      for path in covered.paths {
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

  /// All observers, each once.
  var all: [Observer] {
    var all: [Observer] = others
    objects.forEach { all.append($0) }
    var seen: Set<ObjectIdentifier> = []
    for field in fields {
      // An observer may be registered under several paths.
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
      for index in changes.indices where observer.examine(start + index, index, .both, nil) {
        touched.results.append(observer)
      }
    }
    return touched
  }

  /// How many rows are read before the first of them is looked up. Rows that were written a while
  /// ago have left the processor's caches; reading several in a row lets the processor wait for
  /// them in parallel.
  private static let readTogether = 16

  /// Shows changes to the observers that are registered under fields.
  private func find(
    _ changes: UnsafePointer<RowChange>, _ count: Int, _ touched: inout [QueryObserver]
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
        // Change by change: an observer that is found under several fields sees each change once.
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
