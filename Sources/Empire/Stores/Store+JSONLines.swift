// Records as lines of JSON: out of a store and into it, without holding them all.

public import Foundation
internal import StandardConformances

/// A line that is no record.
public struct JSONLineError: Error {
  /// The number of the line, from 1.
  public let line: Int
  /// What is wrong with it.
  public let reason: any Error
}

extension JSONLineError: LocalizedError, CustomStringConvertible {
  /// Which line, what is wrong with it, and what to do.
  public var description: String {
    // Errors of records say what to do themselves.
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
  /// Writes all records of a type as lines of JSON, in the order of their keys, from one state of the data.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - write: Gets one line after the other, without the newline.
  /// - Returns: How many lines there were.
  /// - Throws: The closure's error, what encoding throws, or as `TransactionContext.select(query:)`.
  @discardableResult
  public func exportJSONLines<Record: IndexKeyRecord & Encodable>(
    of recordType: Record.Type, to write: (Data) throws -> Void
  ) throws -> Int {
    let encoder = JSONEncoder()
    // One line each, the same text for the same record.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
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

  /// Stores the records of lines of JSON, in place of those with the same keys: all of them, or none.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - lines: The lines. Empty ones are left out.
  /// - Returns: How many records there were.
  /// - Throws: `JSONLineError` for a line that is no record or cannot be stored; as `insert(_:)`.
  @discardableResult
  public func importJSONLines<Record: IndexKeyRecord & Decodable>(
    of recordType: Record.Type, from lines: some Collection<Data>
  ) throws -> Int {
    let decoder = JSONDecoder()
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
