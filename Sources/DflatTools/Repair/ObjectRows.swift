// ObjectRows: what rows of a table of objects look like, how they are judged, and stored.
//
//   record   NULL for the row id, the columns of the key, the object, columns that others added
//
//  - With a schema the object is verified as a FlatBuffer of its type, and the columns must be its
//    key. Without one it must be a FlatBuffer that has the texts of the key, and fields like its
//    numbers: default values have none, so that the index of the key decides.
//  - An object with a checksum must have the right one, and keeps it in the new file.
//  - Columns that others have added are copied as they are. A record from before a column was added
//    ends sooner, and has its default.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess
import SQLiteDflat

/// The rows of a table of objects.
final class ObjectRows {
  /// What becomes of a row.
  enum Verdict {
    /// It is no row of this table.
    case other
    /// It is sound, with a key.
    case sound(key: UInt64)
    /// It is sound as far as that can be seen, and nothing in the object is like the key of the
    /// columns.
    case unsure(key: UInt64)
    /// The object is sound, but the columns have another key.
    case wrongKey(key: UInt64)
    /// It is damaged.
    case damaged(String)
  }

  let table: String
  /// nil if nothing is known of the objects but their bytes.
  let entity: EntitySchema?
  /// The types of the key's columns: `TEXT`, `INTEGER` or `REAL`.
  private let keyTypes: [String]
  private let readers: [ColumnReader]
  /// The columns that others have added to the table.
  private let addedColumns: [String]

  /// Whether sectors of zeros can be a part of an object: of a vector of numbers.
  let canHaveZeros: Bool

  var keyCount: Int { keyTypes.count }

  init(table: String, keyTypes: [String], addedColumns: [String] = [], entity: EntitySchema?) {
    self.table = table
    self.keyTypes = keyTypes
    self.addedColumns = addedColumns
    let fits = entity?.primaryKey.count == keyTypes.count
    self.entity = fits ? entity : nil
    readers = fits ? entity?.keyReaders ?? [] : []
    canHaveZeros = fits && entity?.layout.hasVectorsOfNumbers == true
  }

  /// The statement for a row with some of the added columns.
  private func insertSQL(adding count: Int) -> String {
    let names =
      ["rowid", "p"] + keyTypes.indices.map { "__pk\($0)" }
      + addedColumns.prefix(count).map(\.quotedForSQL)
    return "INSERT OR IGNORE INTO \(table.quotedForSQL) (\(names.joined(separator: ", "))) VALUES ("
      + names.map { _ in "?" }.joined(separator: ", ") + ")"
  }

  /// Whether a record has the form of the table's rows.
  func hasForm(_ record: StoredRecord) -> Bool {
    guard (0...addedColumns.count).contains(record.count - keyCount - 2), record[0].isNull,
      record[keyCount + 1].blob != nil
    else { return false }
    return keyTypes.indices.allSatisfy { index in
      switch (keyTypes[index], record[index + 1]) {
      case (_, .null): true
      case ("TEXT", .text), ("INTEGER", .integer), ("REAL", .integer), ("REAL", .real): true
      default: false
      }
    }
  }

  /// Judges a row.
  func judge(_ record: StoredRecord) -> Verdict {
    guard hasForm(record), let stored = record[keyCount + 1].blob else { return .other }
    let bytes = RowChecksum.content(of: stored, as: entity)
    if !record.fillsItsBytes { return .damaged("its size is not that of its values") }
    if RowChecksum.isRefused(bytes) { return .damaged(RowChecksum.refusalReason) }
    guard let entity else { return judgeUnknown(record, bytes) }
    do throws(VerificationError) { try entity.layout.verify(bytes) } catch {
      return .damaged(error.reason)
    }
    guard let table = TableReader(root: bytes) else { return .damaged("it has no root table") }
    let key = readers.map { $0.read(table) }
    let isSame = key.indices.allSatisfy { record[$0 + 1].isSame(as: key[$0]) }
    let hash = KeyHash(key).value
    return isSame ? .sound(key: hash) : .wrongKey(key: hash)
  }

  /// Judges a row whose type is not known.
  private func judgeUnknown(
    _ record: StoredRecord, _ bytes: UnsafeRawBufferPointer
  ) -> Verdict {
    guard let object = TableReader(root: bytes) else { return .damaged("it is no FlatBuffer") }
    for index in 1...keyCount {
      if case .text(let text) = record[index], !text.isEmpty, !bytes.contains(text) {
        return .damaged("it has no text like its key")
      }
    }
    let key = columnKey(record)
    return (1...keyCount).allSatisfy { object.hasField(like: record[$0]) }
      ? .sound(key: key) : .unsure(key: key)
  }

  /// Whether the checksum of an object says that its bytes are as they were stored.
  func isProven(_ record: StoredRecord) -> Bool {
    guard entity != nil, let stored = record[keyCount + 1].blob else { return false }
    let bytes = RowChecksum.content(of: stored, as: entity)
    return bytes.count < stored.count && !RowChecksum.isRefused(bytes)
  }

  /// The key in the columns of a row.
  func columnKey(_ record: StoredRecord) -> UInt64 {
    KeyHash(record, 1..<(keyCount + 1)).value
  }

  /// Adds a row to the new file, with the key that the object has.
  /// - Returns: Whether it was added: another one may have its row id or its key.
  func insert(_ record: StoredRecord, row: Int64, into connection: Connection) throws -> Bool {
    guard let bytes = record[keyCount + 1].blob else { return false }
    let added = keyCount + 2..<record.count
    let statement = try connection.statement(insertSQL(adding: added.count))
    try statement.bind(1, row)
    try statement.bindBlob(2, copying: bytes)
    if entity != nil, let table = TableReader(root: bytes) {
      for (index, reader) in readers.enumerated() {
        switch reader.read(table) {
        case .null: try statement.bindNull(index + 3)
        case .integer(let value): try statement.bind(index + 3, value)
        case .real(let value): try statement.bind(index + 3, value)
        case .text(let text): try statement.bindText(index + 3, copying: text)
        }
      }
    } else {
      for index in 1...keyCount { try statement.bind(index + 2, record[index]) }
    }
    for index in added { try statement.bind(index + 1, record[index]) }
    try statement.run()
    return connection.changes == 1
  }

  // MARK: Carving

  /// The rows whose cells can be found in a page that does not tell where they are.
  func carve(_ page: PageBuffer, usableSize: Int) -> [TreePage.Cell] {
    withExtendedLifetime(page) { carve(page.bytes, usableSize) }
  }

  private func carve(_ page: UnsafeRawBufferPointer, _ usableSize: Int) -> [TreePage.Cell] {
    var found: [TreePage.Cell] = []
    var position = 0
    while position < usableSize - 8 {
      guard let cell = carvedCell(page, position, usableSize) else {
        position += 1
        continue
      }
      found.append(cell)
      position = cell.end
    }
    return found
  }

  /// The cell at a position, if its header fits the table and its own size.
  private func carvedCell(
    _ page: UnsafeRawBufferPointer, _ position: Int, _ usableSize: Int
  ) -> TreePage.Cell? {
    // Cheap tests come first, since they fail nearly everywhere.
    guard let (payload, first) = page.varint(position), payload > 4, payload < 1 << 31,
      let (_, second) = page.varint(position + first)
    else { return nil }
    let start = position + first + second
    guard let headerSize = page.byte(start), headerSize >= keyCount + 3, headerSize < 0x80,
      page.byte(start + 1) == 0
    else { return nil }
    var place = start + 2
    var size = Int64(headerSize)
    var column = 0
    while column <= keyCount || place < start + Int(headerSize) {
      guard column <= keyCount + addedColumns.count,
        let (type, length) = page.varint(place), type >= 0, type < 1 << 32,
        let valueSize = StoredRecord.size(ofType: Int(type)),
        isPossible(Int(type), column)
      else { return nil }
      size += Int64(valueSize)
      place += length
      column += 1
    }
    guard place == start + headerSize, size == payload else { return nil }
    return TreePage.cell(in: page, at: position, .tableLeaf, usableSize)
  }

  private func isPossible(_ type: Int, _ column: Int) -> Bool {
    if column > keyCount { return true }
    if column == keyCount { return type >= 12 && type.isMultiple(of: 2) }
    switch keyTypes[column] {
    case "TEXT": return type == 0 || (type >= 13 && !type.isMultiple(of: 2))
    case "REAL": return type < 10
    default: return type < 10 && type != 7
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether an object has a value of an index somewhere. Nothing need be there of a default.
  func has(_ value: StoredRecord.Value) -> Bool {
    func has<T>(_ number: T?) -> Bool {
      number.map { withUnsafeBytes(of: $0) { contains($0) } } ?? false
    }
    return switch value {
    case .null: true
    case .text(let text): contains(text)
    case .integer(let number):
      has(number) || has(Int32(exactly: number)) || has(UInt32(exactly: number))
        || has(Int16(exactly: number)) || has(Int8(exactly: number)) || has(Double(number))
        || has(Float(number))
    case .real(let number): has(number) || has(Float(number))
    case .blob: false
    }
  }

  /// Whether the bytes of another buffer stand in this one.
  fileprivate func contains(_ other: UnsafeRawBufferPointer) -> Bool {
    guard let first = other.first, other.count <= count else { return other.isEmpty }
    for start in 0...(count - other.count) where self[start] == first {
      if (1..<other.count).allSatisfy({ self[start + $0] == other[$0] }) { return true }
    }
    return false
  }
}

extension TableReader {
  /// Whether a field of some type has a number. Values that are no numbers need no field here.
  fileprivate func hasField(like value: StoredRecord.Value) -> Bool {
    switch value {
    case .integer(let number):
      fields.contains { field in
        has(Int8(exactly: number), field) || has(UInt8(exactly: number), field)
          || has(Int16(exactly: number), field) || has(UInt16(exactly: number), field)
          || has(Int32(exactly: number), field) || has(UInt32(exactly: number), field)
          || has(number, field) || has(Double(number), field) || has(Float(number), field)
      }
    case .real(let number): fields.contains { has(number, $0) || has(Float(number), $0) }
    case .null, .text, .blob: true
    }
  }

  private var fields: StrideTo<Int> { stride(from: 4, to: Int(vtableSize), by: 2) }

  private func has<T: FlatBufferScalar & Equatable>(_ number: T?, _ field: Int) -> Bool {
    guard let number, let stored: T = scalar(at: field) else { return false }
    return stored == number
  }
}

extension Statement {
  /// Binds a value of a record.
  func bind(_ index: Int, _ value: StoredRecord.Value) throws {
    switch value {
    case .null: try bindNull(index)
    case .integer(let number): try bind(index, number)
    case .real(let number): try bind(index, number)
    case .text(let bytes): try bindText(index, copying: bytes)
    case .blob(let bytes): try bindBlob(index, copying: bytes)
    }
  }
}

extension TableLayout {
  /// Whether a table, or one inside of it, has a vector of scalars or structs.
  fileprivate var hasVectorsOfNumbers: Bool {
    var seen: Set<ObjectIdentifier> = [ObjectIdentifier(self)]
    var pending = properties.map(\.kind)
    while let kind = pending.popLast() {
      switch kind {
      case .vector(.scalar), .vector(.enumeration), .vector(.structure): return true
      case .vector(let element): pending.append(element)
      case .table(let layout):
        if seen.insert(ObjectIdentifier(layout())).inserted {
          pending += layout().properties.map(\.kind)
        }
      case .union(let layout):
        if seen.insert(ObjectIdentifier(layout())).inserted {
          pending += layout().members.map(\.kind)
        }
      case .scalar, .enumeration, .string, .structure, .array: break
      }
    }
    return false
  }
}
