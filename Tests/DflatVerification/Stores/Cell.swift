// Cell: the stored form of a key, in one type per space.
//
// The schemas differ only in their names and the uniqueness of a label, so this code works for
// each.

public import Dflat
import SQLiteDflat

/// An entity type that stores the keys of a space.
public protocol Cell: Atom where ID == Int64 {
  associatedtype Request: CellRequest where Request.Element == Self, Request == _Draft
  var key: Int64 { get }
  var group: Int64 { get }
  var values: [Int64] { get }
  var label: String? { get }
  init(key: Int64, group: Int64?, values: [Int64]?, label: String?)
  static var key: Field<Int64, Self> { get }
  static var group: Field<Int64, Self> { get }
}

/// The change request of a cell.
public protocol CellRequest<Element>: ChangeRequest where Element: Cell {
  var values: [Int64] { get set }
  var label: String? { get set }
  static func creationRequest(_ o: Element) -> Self
  static func changeRequest(_ o: Element) -> Self?
  static func upsertRequest(_ o: Element) -> Self
  static func deletionRequest(_ o: Element) -> Self?
}

extension Verify.Red: Cell {
  /// Its request.
  public typealias Request = Verify.RedChangeRequest
}
extension Verify.RedChangeRequest: CellRequest {}
extension Verify.Green: Cell {
  /// Its request.
  public typealias Request = Verify.GreenChangeRequest
}
extension Verify.GreenChangeRequest: CellRequest {}
extension Verify.Blue: Cell {
  /// Its request.
  public typealias Request = Verify.BlueChangeRequest
}
extension Verify.BlueChangeRequest: CellRequest {}
extension Verify.White: Cell {
  /// Its request.
  public typealias Request = Verify.WhiteChangeRequest
}
extension Verify.WhiteChangeRequest: CellRequest {}

/// The type of each space.
public let cellTypes: [any Cell.Type] = [
  Verify.Red.self, Verify.Green.self, Verify.Blue.self, Verify.White.self,
]

/// A transaction, however it was called.
enum CellContext {
  case queued(any TransactionContext)
  case write(WriteContext)

  func submit(_ request: some ChangeRequest) throws {
    switch self {
    case .queued(let txn): try txn.submit(request)
    case .write(let txn): try txn.submit(request)
    }
  }
}

extension Cell {
  static func fetch(_ number: Int64, _ dflat: any Workspace) -> CellValue? {
    dflat.fetch(for: Self.self).where(Self.key == number).first?.values
  }

  static func fetch(group: Int64, _ dflat: any Workspace) -> [(Int64, CellValue)] {
    dflat.fetch(for: Self.self).where(Self.group == group).map { ($0.key, $0.values) }
  }

  static func object(_ key: Key, _ values: CellValue, label: String? = nil) -> Self {
    Self(key: key.number, group: key.group, values: values, label: label)
  }

  static func write(_ key: Key, _ value: CellValue, _ txn: CellContext) throws {
    let object = object(key, value, label: "\(key)")
    if case .write(let txn) = txn {
      try txn.upsert(contentsOf: [object])
    } else {
      try txn.submit(Request.upsertRequest(object))
    }
  }

  /// All objects, by their keys.
  static func known(_ dflat: any Workspace) -> [Int64: any Cell] {
    Dictionary(uniqueKeysWithValues: dflat.fetch(for: Self.self).all().map { ($0.key, $0) })
  }

  /// Appends to the list in the request, which has the stored value, whichever object the request
  /// was made from, or to a draft of that object.
  /// - Parameter known: Objects as they were before the transaction was called.
  static func append(
    _ key: Key, _ number: Int64, _ known: [Int64: any Cell], _ txn: CellContext
  ) throws {
    // Half of the writes are changes of many objects.
    if case .write(let txn) = txn, number % 2 == 0 {
      let change: (inout Request) -> Void = { $0.values.append(number) }
      let result =
        number % 4 == 0
        ? try txn.update(Self.self, keys: [key.number], change)
        : try txn.update(where: Self.key == key.number, change)
      if result.updated == 0 {
        try txn.insert(contentsOf: [object(key, [number], label: "\(key)")])
      }
      return
    }
    let old = known[key.number] as? Self ?? object(key, [])
    if case .write(let txn) = txn, known[key.number] != nil {
      // A draft of the object as it was, which is merged into what it is now.
      var draft = old.draft()
      draft.change { $0.values.append(number) }
      try txn.merge(draft) { conflict in
        .value { $0.values = (conflict.theirs?.values ?? []) + [number] }
      }
      return
    }
    if let request = Request.changeRequest(old) {
      request.values.append(number)
      try txn.submit(request)
    } else {
      try txn.submit(Request.creationRequest(object(key, [number], label: "\(key)")))
    }
  }
}
