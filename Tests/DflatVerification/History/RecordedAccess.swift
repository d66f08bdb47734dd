// RecordedAccess: access to a store that records all operations.

/// Reads that are recorded.
public class RecordedReader {
  fileprivate let record: TransactionRecord
  fileprivate let reader: any StoreReader

  init(_ reader: any StoreReader, _ record: TransactionRecord) {
    self.reader = reader
    self.record = record
  }

  /// Reads a key.
  @discardableResult
  public func read(_ key: Key) throws -> CellValue? {
    let value = try reader.read(key)
    record.operations.append(.read(key, value))
    return value
  }

  /// Reads the keys of a group, including those without a value.
  @discardableResult
  public func read(group: Int64, in space: Int) throws -> [Key: CellValue] {
    let values = try reader.read(group: group, in: space)
    for key in Key.keys(of: group, in: space) {
      record.operations.append(.read(key, values[key]))
    }
    return values
  }
}

extension RecordedReader {
  /// Reads the objects of a family.
  public func observe(family: Int64) throws {
    record.operations.append(.observe(family: family, try reader.read(family: family)))
  }
}

/// Reads and writes that are recorded.
public final class RecordedAccess: RecordedReader {
  private let access: any StoreAccess

  init(_ access: any StoreAccess, _ record: TransactionRecord) {
    self.access = access
    super.init(access, record)
  }

  /// Writes a key. It is recorded first, because a failed write may have taken effect.
  public func write(_ key: Key, _ value: CellValue) throws {
    record.operations.append(.write(key, value))
    try access.write(key, value)
  }

  /// Appends to a key.
  public func append(_ key: Key, _ number: Int64) throws {
    record.operations.append(.append(key, number))
    try access.append(key, number)
  }

  /// Carries out the operation of a number on a family, and appends the number to a key.
  public func change(family: Int64, _ number: Int64, log: Key) throws {
    try append(log, number)
    try access.change(family: family, number)
  }
}
