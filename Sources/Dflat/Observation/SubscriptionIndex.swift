// SubscriptionIndex: whom a change concerns.
//
// Observers of objects are found by row id. Observers of results are found by the values of the changed row, before and after:
// for each field that any of them is registered under there is a table of values, a structure of ranges, and a list for the
// unknown. Only those whose condition leaves no such path are looked at for every change.
//
// So what a change costs depends on whom it concerns, and on the number of fields, and not on how many observe other things.

struct SubscriptionIndex {
  private var objects: [Int64: Bucket<ObjectObserver>] = [:]
  private var fields: [FieldIndex] = []
  /// Those that are looked at for every change.
  private var others: [ResultObserver] = []

  /// Whom the changes of a transaction touch.
  struct Touched {
    var objects: [ObjectObserver] = []
    var results: [ResultObserver] = []
  }

  // MARK: Registering

  mutating func insert(_ observer: Observer) {
    observer.isRegistered = true
    switch observer {
    case let object as ObjectObserver: objects[object.row.id, default: .none].insert(object)
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
      objects[object.row.id]?.remove(object)
      if objects[object.row.id]?.isEmpty == true { objects[object.row.id] = nil }
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
    for bucket in objects.values { bucket.forEach { all.append($0) } }
    var seen: Set<ObjectIdentifier> = []
    for field in fields {
      // One may be under several paths.
      field.forEach { if seen.insert(ObjectIdentifier($0)).inserted { all.append($0) } }
    }
    return all
  }

  // MARK: Finding

  func touched(by changes: [RowChange]) -> Touched {
    var touched = Touched()
    for index in changes.indices {
      let change = changes[index]
      if !objects.isEmpty, let bucket = objects[change.id] {
        bucket.forEach { observer in
          observer.apply(change)
          touched.objects.append(observer)
        }
      }
      for field in fields { field.find(change, index, &touched.results) }
      for observer in others
      where observer.meet(change, index, nil, isOld: true, isNew: true) {
        touched.results.append(observer)
      }
    }
    return touched
  }
}

/// The observers that are registered under one field.
private final class FieldIndex {
  let reader: ColumnReader
  /// By the key of a number, or the hash of a text.
  private var values: [UInt64: Bucket<ResultObserver>] = [:]
  private var ranges = IntervalIndex<ResultObserver>()
  private var unknown = Bucket<ResultObserver>.none

  init(_ field: FieldDescriptor) {
    reader = ColumnReader(field)
  }

  var isEmpty: Bool { values.isEmpty && ranges.count == 0 && unknown.isEmpty }

  func insert(_ path: AccessPath, _ observer: ResultObserver) {
    switch path {
    case .equal(let field, let value):
      values[OrderKey.exact(value, field.type), default: .none].insert(observer)
    case .range(_, let range): ranges.insert(range, observer)
    case .null: unknown.insert(observer)
    }
  }

  func remove(_ path: AccessPath, _ observer: ResultObserver) {
    switch path {
    case .equal(let field, let value):
      let key = OrderKey.exact(value, field.type)
      values[key]?.remove(observer)
      if values[key]?.isEmpty == true { values[key] = nil }
    case .range(_, let range): ranges.remove(range, observer)
    case .null: unknown.remove(observer)
    }
  }

  func forEach(_ body: (ResultObserver) -> Void) {
    for bucket in values.values { bucket.forEach(body) }
    ranges.forEach(body)
    unknown.forEach(body)
  }

  /// Where a row is found.
  private enum Place: Equatable {
    case nowhere
    case unknown
    case value(exact: UInt64, order: UInt64)
  }

  private func place(_ value: ColumnValue) -> Place {
    switch value {
    case .null: return .unknown
    case .integer(let value):
      let key = OrderKey.key(value, reader.field.type)
      return .value(exact: key, order: key)
    case .real(let value):
      let key = OrderKey.key(value)
      return .value(exact: key, order: key)
    case .text(let bytes):
      return .value(
        exact: values.isEmpty ? 0 : OrderKey.hash(bytes),
        order: ranges.count == 0 ? 0 : OrderKey.prefix(bytes))
    }
  }

  /// Where the old and the new row are found.
  private func places(_ change: RowChange) -> (old: Place, new: Place) {
    switch (change.old, change.new) {
    case (nil, nil): (.nowhere, .nowhere)
    case (let old?, nil): (old.read { place(reader.read($0)) }, .nowhere)
    case (nil, let new?): (.nowhere, new.read { place(reader.read($0)) })
    case (let old?, let new?):
      old.read { left in
        new.read { right in
          let before = reader.read(left)
          let after = reader.read(right)
          let old = place(before)
          return (old, before.isSame(as: after) ? old : place(after))
        }
      }
    }
  }

  func find(_ change: RowChange, _ index: Int, _ touched: inout [ResultObserver]) {
    let (old, new) = places(change)
    if old == new {
      visit(old) { observer in
        if observer.meet(change, index, reader, isOld: true, isNew: true) {
          touched.append(observer)
        }
      }
      return
    }
    visit(old) { observer in
      if observer.meet(change, index, reader, isOld: true, isNew: false) {
        touched.append(observer)
      }
    }
    visit(new) { observer in
      if observer.meet(change, index, reader, isOld: false, isNew: true) {
        touched.append(observer)
      }
    }
  }

  private func visit(_ place: Place, _ body: (ResultObserver) -> Void) {
    switch place {
    case .nowhere: break
    case .unknown: unknown.forEach(body)
    case .value(let exact, let order):
      if !values.isEmpty { values[exact]?.forEach(body) }
      if ranges.count > 0 { ranges.forEach(containing: order, body) }
    }
  }
}

/// A few observers; mostly one.
private enum Bucket<Element: AnyObject> {
  case none
  case one(Element)
  case many([Element])

  var isEmpty: Bool {
    if case .none = self { true } else { false }
  }

  mutating func insert(_ element: Element) {
    switch self {
    case .none: self = .one(element)
    case .one(let other): self = .many([other, element])
    case .many(var elements):
      self = .none
      elements.append(element)
      self = .many(elements)
    }
  }

  mutating func remove(_ element: Element) {
    switch self {
    case .none: break
    case .one(let other): if other === element { self = .none }
    case .many(var elements):
      self = .none
      // The order among them means nothing.
      if let index = elements.firstIndex(where: { $0 === element }) {
        elements.swapAt(index, elements.count - 1)
        elements.removeLast()
      }
      self = elements.isEmpty ? .none : .many(elements)
    }
  }

  func forEach(_ body: (Element) -> Void) {
    switch self {
    case .none: break
    case .one(let element): body(element)
    case .many(let elements): for element in elements { body(element) }
    }
  }
}
