// WatchedType: the rows of a type as they were at the last look, and what has changed since.

import Dflat

/// The rows of a type as they were at the last look.
struct WatchedType {
  /// What is kept of a row.
  private enum Kept {
    case row(Row)
    /// A digest of its bytes, when there is no room for all of them.
    case digest(id: Int64, Int)

    var id: Int64 {
      switch self {
      case .row(let row): row.id
      case .digest(let id, _): id
      }
    }

    func isSame(as other: Row) -> Bool {
      switch self {
      case .row(let row): row.hasSameBytes(as: other)
      case .digest(_, let digest): digest == Self.digest(of: other)
      }
    }

    static func digest(of row: Row) -> Int {
      row.withBytes {
        var hasher = Hasher()
        hasher.combine(bytes: $0)
        return hasher.finalize()
      }
    }
  }

  /// Receives a change, made only if it is wanted.
  typealias Report = (_ kind: ObjectChange.Kind, _ make: () throws -> ObjectChange) throws -> Void

  let name: String
  /// Another one once the schema has changed.
  var entity: EntitySchema
  /// In the order of their ids.
  private var rows: [Kept] = []

  init(name: String, entity: EntitySchema) {
    self.name = name
    self.entity = entity
  }

  /// Reads all rows again, and reports how they differ from what they were.
  /// - Parameters:
  ///   - isComparing: Whether new rows are reported.
  ///   - memory: How many bytes of rows may be kept; reduced by what is.
  mutating func read(
    _ core: WorkspaceCore, comparing isComparing: Bool, keeping memory: inout Int,
    _ report: Report
  ) throws {
    var now: [Kept] = []
    now.reserveCapacity(rows.count)
    var place = 0
    var last = Int64.min
    while true {
      let portion = try core.rows(of: entity, after: last, limit: 500)
      if portion.count == 0 { break }
      for index in 0..<portion.count {
        let row = portion[index]
        try leave(&place, before: row.id, report)
        var kept: Kept?
        if place < rows.count, rows[place].id == row.id {
          let old = rows[place]
          place += 1
          if old.isSame(as: row) {
            kept = old
          } else {
            try reportUpdate(old, row, report)
          }
        } else if isComparing {
          try report(.inserted) { change(.inserted, row.id, key(of: row)) }
        }
        now.append(keep(row, kept, &memory))
      }
      last = portion[portion.count - 1].id
    }
    try leave(&place, before: nil, report)
    rows = now
  }

  /// Reports the rows before an id, which are not there any more; all that are left for nil.
  private func leave(_ place: inout Int, before id: Int64?, _ report: Report) throws {
    while place < rows.count, id.map({ rows[place].id < $0 }) ?? true {
      let old = rows[place]
      try report(.deleted) {
        if case .row(let row) = old { return change(.deleted, row.id, key(of: row)) }
        return change(.deleted, old.id, [])
      }
      place += 1
    }
  }

  private func reportUpdate(_ old: Kept, _ new: Row, _ report: Report) throws {
    guard case .row(let row) = old else {
      return try report(.updated) { change(.updated, new.id, key(of: new)) }
    }
    let fields = try StoredObject.differences(
      StoredObject(row, of: entity), StoredObject(new, of: entity)
    ).map { ObjectChange.Field(name: $0.name, old: $0.first.json, new: $0.second.json) }
    if !fields.isEmpty { try report(.updated) { change(.updated, new.id, key(of: new), fields) } }
  }

  /// What is kept of a row, as long as there is memory for it.
  private func keep(_ row: Row, _ old: Kept?, _ memory: inout Int) -> Kept {
    // A row in memory takes about this much beside its bytes.
    let size = row.withBytes { $0.count } + 64
    if size > memory {
      if case .digest? = old, let old { return old }
      return .digest(id: row.id, Kept.digest(of: row))
    }
    memory -= size
    if case .row? = old, let old { return old }
    return .row(row)
  }

  private func key(of row: Row) -> [String] { entity.keyTexts(of: row) }

  private func change(
    _ kind: ObjectChange.Kind, _ id: Int64, _ key: [String], _ fields: [ObjectChange.Field] = []
  ) -> ObjectChange {
    ObjectChange(
      kind: kind, type: name, table: entity.table, row: id, key: key, fields: fields)
  }
}
