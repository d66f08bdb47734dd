// CSVRecord: the fields of one record of comma-separated values (RFC 4180).

/// A field. An absent value is empty, and an empty text stands in quotation marks.
struct CSVField: Sendable {
  let text: String
  let isQuoted: Bool

  var isAbsent: Bool { text.isEmpty && !isQuoted }
}

enum CSVRecord {
  /// Why a record cannot be read.
  struct Malformed: Error {
    let reason: String
  }

  private static let quote = UInt8(ascii: "\"")

  /// Whether a record goes on behind these lines: a quotation mark is open.
  static func isOpen(_ lines: some Sequence<UInt8>) -> Bool {
    lines.reduce(false) { $1 == quote ? !$0 : $0 }
  }

  /// The fields of a record.
  /// - Parameter bytes: Its lines.
  static func fields(of bytes: [UInt8]) throws(Malformed) -> [CSVField] {
    var bytes = bytes[...]
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    var fields: [CSVField] = []
    while true {
      var text: [UInt8] = []
      let isQuoted = bytes.first == quote
      if isQuoted {
        bytes.removeFirst()
        try takeQuoted(&bytes, into: &text)
      } else {
        let end = bytes.firstIndex(of: UInt8(ascii: ",")) ?? bytes.endIndex
        text = Array(bytes[..<end])
        if text.contains(quote) {
          throw Malformed(reason: "a quotation mark stands inside a field that has none around it")
        }
        bytes = bytes[end...]
      }
      guard let string = String(validating: text, as: UTF8.self) else {
        throw Malformed(reason: "the text is not UTF-8")
      }
      fields.append(CSVField(text: string, isQuoted: isQuoted))
      guard let next = bytes.popFirst() else { return fields }
      if next != UInt8(ascii: ",") {
        throw Malformed(reason: "text stands behind the closing quotation mark of a field")
      }
    }
  }

  private static func takeQuoted(
    _ bytes: inout ArraySlice<UInt8>, into text: inout [UInt8]
  ) throws(Malformed) {
    while let byte = bytes.popFirst() {
      if byte != quote {
        text.append(byte)
      } else if bytes.first == quote {
        text.append(quote)
        bytes.removeFirst()
      } else {
        return
      }
    }
    throw Malformed(reason: "a quotation mark is not closed")
  }
}
