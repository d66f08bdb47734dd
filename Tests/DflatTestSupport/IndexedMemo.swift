// Memos whose indexes are chosen at random: schemas that no person would write.

public import Dflat
public import FlatBuffersRuntime
import Synchronization

/// An object with the fields of memo.fbs.
public protocol MemoObject: Atom {
  var number: Int32 { get }
  var archived: Bool { get }
  var sortDate: Int64 { get }
  var title: String? { get }
  var state: Desk.State { get }
  var rank: Int32? { get }
  var owner: Desk.Owner? { get }
  var spot: Desk.Spot? { get }
  var weight: Double { get }
  var big: UInt64 { get }
  var tag: String { get }
  var topic: String? { get }
  var issue: Int32? { get }
  var code: String? { get }
  var score: Int32 { get }
}

extension Desk.Memo: MemoObject {}

/// A memo of a type whose indexes a test chooses, one set after the other.
public struct IndexedMemo: MemoObject {
  public let _row: Row

  public init(_row: Row) { self._row = _row }

  /// A memo with the same values.
  public init(_ memo: Desk.Memo) { _row = memo._row }

  private var memo: Desk.Memo { Desk.Memo(_row: _row) }

  public var id: Int32 { number }
  public var number: Int32 { memo.number }
  public var archived: Bool { memo.archived }
  public var sortDate: Int64 { memo.sortDate }
  public var title: String? { memo.title }
  public var state: Desk.State { memo.state }
  public var rank: Int32? { memo.rank }
  public var owner: Desk.Owner? { memo.owner }
  public var spot: Desk.Spot? { memo.spot }
  public var weight: Double { memo.weight }
  public var big: UInt64 { memo.big }
  public var tag: String { memo.tag }
  public var topic: String? { memo.topic }
  public var issue: Int32? { memo.issue }
  public var code: String? { memo.code }
  public var score: Int32 { memo.score }

  public typealias _Draft = IndexedMemoRequest

  private static let current = Mutex(schema(indexes: []))

  public static var _schema: EntitySchema { current.withLock { $0 } }

  /// Begins a new schema. No workspace may have the type now.
  /// - Returns: Its indexes, as the storage names of their columns.
  public static func choose(_ random: inout SeededGenerator) -> [[String]] {
    let columns = Array(Set(RandomMemos.indexes.joined())).sorted()
    var indexes: [[String]] = []
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let length = Int.random(in: 1...4, using: &random)
      let index = Array(columns.shuffled(using: &random).prefix(length))
      // The key has an index of its own.
      if index != ["f4"], !indexes.contains(index) { indexes.append(index) }
    }
    if indexes.isEmpty { indexes = [["f6", "f8"]] }
    let schema = schema(indexes: indexes)
    current.withLock { $0 = schema }
    return indexes
  }

  private static func schema(indexes: [[String]]) -> EntitySchema {
    // Values together with the key are unique by themselves.
    let uniques = indexes.filter { $0.contains("f4") && $0.count == 3 }
    return EntitySchema(
      table: "indexed_memo", layout: Desk.Memo._layout, primaryKey: [4],
      indexes: indexes.filter { !uniques.contains($0) }.map(name), uniques: uniques.map(name))
  }

  private static func name(_ columns: [String]) -> String {
    columns.count == 1 && !columns[0].contains("nocase")
      ? columns[0] : "x__" + columns.joined(separator: "__x__")
  }
}

/// What an atom must have; the tests change memos as a whole.
public final class IndexedMemoRequest: ChangeRequest {
  public var _change: PendingChange

  private init(_ change: PendingChange) { _change = change }

  public func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset {
    builder.startTable(slotCount: 16)
    return builder.endTable()
  }

  public static func creationRequest(_ o: IndexedMemo) -> IndexedMemoRequest {
    IndexedMemoRequest(.creation(of: o))
  }

  public static func changeRequest(_ o: IndexedMemo) -> IndexedMemoRequest? {
    PendingChange.update(of: o).map(IndexedMemoRequest.init)
  }

  public static func upsertRequest(_ o: IndexedMemo) -> IndexedMemoRequest {
    IndexedMemoRequest(.upsert(of: o))
  }

  public static func deletionRequest(_ o: IndexedMemo) -> IndexedMemoRequest? {
    PendingChange.deletion(of: o).map(IndexedMemoRequest.init)
  }
}
