// Prepared statements in PostgreSQL's protocol: Parse has a name and the text, Bind the name.

import Platform

extension ProxyMessage {
  /// The texts in front of other things, each of which ends with a zero.
  private func texts(_ count: Int) -> (texts: [String], rest: ArraySlice<UInt8>) {
    let parts = body.split(separator: 0, maxSplits: count, omittingEmptySubsequences: false)
    return (parts.prefix(count).map { String(decoding: $0, as: UTF8.self) }, parts[count])
  }

  /// The name of the statement that is prepared, and its text; nil for other messages.
  public var preparation: (name: String, statement: String)? {
    guard type == UInt8(ascii: "P") else { return nil }
    let texts = texts(2).texts
    return (texts[0], texts[1])
  }

  /// The same preparation of another text.
  public func preparing(_ statement: String) -> ProxyMessage {
    let (texts, rest) = texts(2)
    var message = self
    message.body = Array(texts[0].utf8) + [0] + Array(statement.utf8) + [0] + rest
    return message
  }

  /// The row and the number that a write transaction has in the ledger, if this message commits it
  /// with `…; EXECUTE statement('row', number); COMMIT`; nil for other messages.
  public var commit: (row: String, number: Int)? {
    guard let statements, statements.hasSuffix("; COMMIT"),
      let start = statements.ranges(of: "EXECUTE ").last,
      let values = statements[start.lowerBound...].wholeMatch(
        of: /EXECUTE \w+\('([^']*)', ([0-9]+)\); COMMIT/)
    else { return nil }
    return Int(values.2).map { (String(values.1), $0) }
  }

  /// The name of the prepared statement that is run; nil for other messages.
  fileprivate var binding: String? { type == UInt8(ascii: "B") ? texts(2).texts[1] : nil }
}

/// The prepared statements of a connection.
public final class PreparedTexts: Sendable {
  private let texts = Mutex<[String: String]>([:])

  /// Nothing is prepared yet.
  public init() {}

  /// Notes what a message of the client prepares.
  /// - Returns: The text of the prepared statement that the message runs.
  public func statement(runBy message: ProxyMessage) -> String? {
    texts.withLock { texts in
      if let (name, statement) = message.preparation { texts[name] = statement }
      return message.binding.flatMap { texts[$0] }
    }
  }
}
