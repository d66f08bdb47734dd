// TypeCopy: copies the objects of one type, portion by portion.
//
//  - A portion is one transaction of the target, which stores its rows together.
//  - If that is refused because of a unique value, objects may exchange values with each other.
//    Then the rows are stored one by one, and an object that is in the way gets its new values in
//    the same transaction, also if these are in a later portion. If the source does not have the
//    object, the copy ends.

import Dflat

/// The copy of one type.
final class TypeCopy {
  /// Rows of the source, as new ones.
  private struct Portion {
    let rows: [Row]
    /// The id of the last row in the source.
    let last: Int64
  }

  private static let size = 500

  private let core: WorkspaceCore
  private let source: EntitySchema
  private let target: OpenTarget
  private let entity: EntitySchema
  /// The number of objects that were changed before their portion, which finds them unchanged.
  private var early = 0

  /// - Parameters:
  ///   - core: The source. It is read in the snapshot of the calling thread.
  ///   - source: The type in the source.
  ///   - target: Where the objects are stored.
  ///   - entity: The schema with which they are stored.
  init(
    from core: WorkspaceCore, _ source: EntitySchema, to target: OpenTarget, _ entity: EntitySchema
  ) {
    self.core = core
    self.source = source
    self.target = target
    self.entity = entity
  }

  /// Copies all objects.
  /// - Parameter progress: Called after each portion, with what was done.
  func run(_ progress: (CopiedType) -> Void) throws {
    var last: Int64?
    while let portion = try portion(after: last) {
      var copied = CopiedType(type: "")
      do {
        copied.add(
          try target.write([entity]) { try $0.upsert(entity, portion.rows, losingNothing: true) })
      } catch let error as StorageError where error.cause == .alreadyExists {
        copied = try storeWithExchanges(portion)
      }
      let known = min(early, copied.unchanged)
      copied.unchanged -= known
      copied.updated += known
      early -= known
      progress(copied)
      last = portion.last
    }
  }

  private func portion(after id: Int64?) throws -> Portion? {
    let rows = try core.rows(of: source, after: id, limit: Self.size)
    if rows.count == 0 { return nil }
    return Portion(
      rows: (0..<rows.count).map { Self.new(rows[$0]) }, last: rows[rows.count - 1].id)
  }

  private static func new(_ row: Row) -> Row { row.withBytes { Row(sound: $0) } }

  private func storeWithExchanges(_ portion: Portion) throws -> CopiedType {
    do {
      let (copied, more) = try target.write([entity]) { context in
        // On a server it may run again.
        var copied = CopiedType(type: "")
        let more = try context.withExchanges(of: entity) { upserts in
          for (place, row) in portion.rows.enumerated() {
            copied.add(try upserts.store(row, place: place))
          }
          return try upserts.storeWaiting { object in
            try core.row(with: object, of: entity, as: source).map(Self.new)
          }
        }
        return (copied, more)
      }
      early += more.updated
      return copied
    } catch let refusal as ExchangeRefusal { throw refusal.error }
  }
}
