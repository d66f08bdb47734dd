// Export and import of records as JSON lines, without holding all of them in memory.

public import Foundation
internal import StandardConformances

/// A line that is not a record or cannot be stored.
public struct JSONLineError: Error {
  /// The number of the line, from 1.
  public let line: Int
  /// The reason why it cannot be stored.
  public let reason: any Error
}

extension JSONLineError: LocalizedError, CustomStringConvertible {
  /// The line's number, what is wrong with it, and what to do.
  public var description: String {
    // Errors of records contain the advice already.
    sentence("line \(line): \(reason)", advice: reasonsAdvice == nil ? recoverySuggestion : nil)
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    reasonsAdvice ?? "correct the line; nothing has been stored of any line"
  }

  private var reasonsAdvice: String? { (reason as? any LocalizedError)?.recoverySuggestion }
}

extension Store {
  /// Writes all records of a type as JSON lines, in the order of their keys, from one consistent
  /// state. Infinite numbers and NaN are the strings "inf", "-inf" and "nan", which
  /// `importJSONLines(of:from:)` reads.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - write: Receives one line at a time, without the newline.
  /// - Returns: The number of lines.
  /// - Throws: The closure's error, an encoding error, or the same errors as
  ///   `TransactionContext.select(query:)`.
  @discardableResult
  public func exportJSONLines<Record: IndexKeyRecord & Encodable>(
    of recordType: Record.Type, to write: (Data) throws -> Void
  ) throws -> Int {
    // One line per record, and always the same text for the same record.
    let encoder = JSONForm.encoder
    return try withTransaction(readOnly: true) { context in
      var count = 0
      try context.forEach(of: recordType) { record in
        try write(try encoder.encode(record))
        count += 1
        return true
      }
      return count
    }
  }

  /// Stores the records of JSON lines, replacing those with the same keys. Either all of them are
  /// stored, or none.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - lines: The lines. Empty ones are skipped.
  /// - Returns: The number of records.
  /// - Throws: `JSONLineError` for a line that is not a record or cannot be stored; otherwise the
  ///   same errors as `insert(_:)`.
  @discardableResult
  public func importJSONLines<Record: IndexKeyRecord & Decodable>(
    of recordType: Record.Type, from lines: some Collection<Data>
  ) throws -> Int {
    let decoder = JSONForm.decoder
    return try withTransaction { context in
      var count = 0
      for (index, line) in lines.enumerated() where !line.isEmpty {
        do {
          try context.insert(try decoder.decode(recordType, from: line))
        } catch let error
          where error is DecodingError || error is SerializeError || error is StoreError
        {
          throw JSONLineError(line: index + 1, reason: error)
        }
        count += 1
      }
      return count
    }
  }
}
