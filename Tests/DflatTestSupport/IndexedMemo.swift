// Memos whose indexes are chosen at random: schemas that no person would write.

public import Dflat
public import FlatBuffersRuntime
import Platform

/// An object with the fields of memo.fbs.
public protocol MemoObject: Atom {
  /// `number` of memo.fbs.
  var number: Int32 { get }
  /// `archived` of memo.fbs.
  var archived: Bool { get }
  /// `sortDate` of memo.fbs.
  var sortDate: Int64 { get }
  /// `title` of memo.fbs.
  var title: String? { get }
  /// `state` of memo.fbs.
  var state: Desk.State { get }
  /// `rank` of memo.fbs.
  var rank: Int32? { get }
  /// `owner` of memo.fbs.
  var owner: Desk.Owner? { get }
  /// `spot` of memo.fbs.
  var spot: Desk.Spot? { get }
  /// `weight` of memo.fbs.
  var weight: Double { get }
  /// `big` of memo.fbs.
  var big: UInt64 { get }
  /// `tag` of memo.fbs.
  var tag: String { get }
  /// `topic` of memo.fbs.
  var topic: String? { get }
  /// `issue` of memo.fbs.
  var issue: Int32? { get }
  /// `code` of memo.fbs.
  var code: String? { get }
  /// `score` of memo.fbs.
  var score: Int32 { get }
}

extension Desk.Memo: MemoObject {}

/// A memo of a type whose indexes a test chooses, one set after the other.
public struct IndexedMemo: MemoObject {
  /// The bytes.
  public let _row: Row

  /// A memo over bytes that were verified.
  public init(_row: Row) { self._row = _row }

  /// A memo with the same values.
  public init(_ memo: Desk.Memo) { _row = memo._row }

  private var memo: Desk.Memo { Desk.Memo(_row: _row) }

  /// The primary key.
  public var id: Int32 { number }
  /// `number` of memo.fbs.
  public var number: Int32 { memo.number }
  /// `archived` of memo.fbs.
  public var archived: Bool { memo.archived }
  /// `sortDate` of memo.fbs.
  public var sortDate: Int64 { memo.sortDate }
  /// `title` of memo.fbs.
  public var title: String? { memo.title }
  /// `state` of memo.fbs.
  public var state: Desk.State { memo.state }
  /// `rank` of memo.fbs.
  public var rank: Int32? { memo.rank }
  /// `owner` of memo.fbs.
  public var owner: Desk.Owner? { memo.owner }
  /// `spot` of memo.fbs.
  public var spot: Desk.Spot? { memo.spot }
  /// `weight` of memo.fbs.
  public var weight: Double { memo.weight }
  /// `big` of memo.fbs.
  public var big: UInt64 { memo.big }
  /// `tag` of memo.fbs.
  public var tag: String { memo.tag }
  /// `topic` of memo.fbs.
  public var topic: String? { memo.topic }
  /// `issue` of memo.fbs.
  public var issue: Int32? { memo.issue }
  /// `code` of memo.fbs.
  public var code: String? { memo.code }
  /// `score` of memo.fbs.
  public var score: Int32 { memo.score }

  /// What an atom must have.
  public typealias _Draft = IndexedMemoRequest

  private static let current = Mutex(schema(indexes: []))

  /// The schema that was chosen last.
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
  /// What the request does.
  public var _change: PendingChange

  private init(_ change: PendingChange) { _change = change }

  /// Writes no fields: the tests set none.
  public func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset {
    builder.startTable(slotCount: 16)
    return builder.endTable()
  }

  /// A new memo.
  public static func creationRequest(_ o: IndexedMemo) -> IndexedMemoRequest {
    IndexedMemoRequest(.creation(of: o))
  }

  /// An update of the stored memo; nil if it does not exist.
  public static func changeRequest(_ o: IndexedMemo) -> IndexedMemoRequest? {
    PendingChange.update(of: o).map(IndexedMemoRequest.init)
  }

  /// An update of the stored memo, or its creation.
  public static func upsertRequest(_ o: IndexedMemo) -> IndexedMemoRequest {
    IndexedMemoRequest(.upsert(of: o))
  }

  /// The deletion of the stored memo; nil if it does not exist.
  public static func deletionRequest(_ o: IndexedMemo) -> IndexedMemoRequest? {
    PendingChange.deletion(of: o).map(IndexedMemoRequest.init)
  }
}
