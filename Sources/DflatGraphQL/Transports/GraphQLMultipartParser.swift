// GraphQLMultipartParser: the parts of a `multipart/mixed` body (RFC 2046), as their bytes arrive.
//
// A part ends at the delimiter that follows it: a line break, two hyphens and the boundary. The
// bytes may be divided anywhere, also inside of a delimiter. Lines may end with CRLF, as they
// should, or with LF alone, as some servers write them.

public import Foundation

/// Divides a response with several parts into these.
///
///     var parser = try GraphQLMultipartParser(contentType: contentType)
///     for try await chunk in chunks {
///       for part in try parser.append(chunk) { print(part.body) }
///     }
///     try parser.finish()
///
/// ``GraphQLOperation/increments(from:contentType:)`` uses it and decodes the parts.
public struct GraphQLMultipartParser: Sendable {
  /// A part of the response.
  public struct Part: Hashable, Sendable {
    /// The header fields, by their names in lower case.
    public var headers: [String: String]
    /// What follows the header.
    public var body: Foundation.Data

    /// Creates a part.
    public init(headers: [String: String] = [:], body: Foundation.Data) {
      self.headers = headers
      self.body = body
    }
  }

  /// Where the parser is.
  private enum State {
    /// Before the first delimiter.
    case preamble
    case part
    /// Behind the last delimiter.
    case epilogue
  }

  /// Two hyphens and the boundary.
  private let delimiter: [UInt8]
  /// How many bytes a part may have.
  private let limit: Int
  private var state = State.preamble
  /// What has come of the part, or of the preamble.
  private var pending: [UInt8] = []
  /// Where in `pending` a delimiter may begin that was not complete.
  private var searched = 0

  /// Creates a parser.
  ///
  /// - Parameters:
  ///   - boundary: The text between the parts, without the hyphens before it.
  ///   - partLimit: How many bytes a part may have, so that a server cannot exhaust memory.
  public init(boundary: String, partLimit: Int = 1 << 28) {
    delimiter = Array("--\(boundary)".utf8)
    limit = partLimit
  }

  /// Creates a parser for a response.
  ///
  /// - Parameter contentType: The response's header field `Content-Type`, such as
  ///   `multipart/mixed; boundary="-"; deferSpec=20220824`. A boundary that it does not name is a
  ///   hyphen, as the protocol for incremental delivery says.
  /// - Throws: ``GraphQLTransportError/notMultipart(_:)`` if it is of another type.
  public init(contentType: String) throws(GraphQLTransportError) {
    let type = GraphQLContentType(contentType)
    guard type.name == "multipart/mixed" else { throw .notMultipart(contentType) }
    self.init(boundary: type.parameters["boundary"] ?? "-")
  }

  /// Adds bytes of the response.
  ///
  /// - Parameter bytes: The next bytes, any number of them.
  /// - Returns: The parts that they complete, in order.
  /// - Throws: ``GraphQLTransportError/partTooLarge(limit:)``.
  public mutating func append(
    _ bytes: some Sequence<UInt8>
  ) throws(GraphQLTransportError) -> [Part] {
    if state == .epilogue { return [] }
    pending += bytes
    var parts: [Part] = []
    var start = 0
    while state != .epilogue, let found = nextDelimiter(from: start) {
      if state == .part { parts.append(Self.part(pending[start..<max(start, found.start)])) }
      state = found.isLast ? .epilogue : .part
      start = found.end
      searched = start
    }
    pending.removeSubrange(..<(state == .epilogue ? pending.count : start))
    searched -= min(searched, start)
    if pending.count > limit { throw .partTooLarge(limit: limit) }
    return parts
  }

  /// Checks that the response is complete.
  /// - Throws: ``GraphQLTransportError/interrupted`` if the last delimiter has not come.
  public func finish() throws(GraphQLTransportError) {
    if state != .epilogue { throw .interrupted }
  }

  // MARK: Delimiters

  private struct Delimiter {
    /// Where the part before it ends.
    var start: Int
    /// Where the next part begins.
    var end: Int
    var isLast: Bool
  }

  /// The first delimiter that has come completely.
  /// - Parameter start: Where the part begins.
  private mutating func nextDelimiter(from start: Int) -> Delimiter? {
    var position = searched
    while position < pending.count {
      if position == start || pending[position - 1] == 0x0A {
        switch candidate(at: position) {
        case .complete(let found): return found
        case .unfinished:
          searched = position
          return nil
        case .none: break
        }
      }
      position = pending[position...].firstIndex(of: 0x0A).map { $0 + 1 } ?? pending.count
    }
    searched = pending.count
    return nil
  }

  /// How many blanks may stand between a boundary and the end of its line.
  private static let paddingLimit = 1024

  private enum Candidate {
    case none
    /// So far it is one.
    case unfinished
    case complete(Delimiter)
  }

  private func candidate(at position: Int) -> Candidate {
    let rest = pending[position...]
    guard rest.count >= delimiter.count else {
      return delimiter.starts(with: rest) ? .unfinished : .none
    }
    guard rest.starts(with: delimiter) else { return .none }
    if let found = delimiter(at: position) { return .complete(found) }
    // Blanks, hyphens and a line break may follow, but not so many that looking at them again with
    // every piece would cost much.
    let end = rest.dropFirst(delimiter.count)
    return end.count < Self.paddingLimit + 2
      && end.allSatisfy { [0x20, 0x09, 0x0D, 0x2D].contains($0) } ? .unfinished : .none
  }

  /// The delimiter whose hyphens and boundary are at a position; nil if its end has not come.
  private func delimiter(at position: Int) -> Delimiter? {
    var end = position + delimiter.count
    let hyphens = pending[end...].prefix(2)
    let isLast = hyphens.elementsEqual([0x2D, 0x2D])
    if isLast { end += 2 }
    var start = position
    if start > 0 { start -= 1 }
    if start > 0, pending[start - 1] == 0x0D { start -= 1 }
    if isLast { return Delimiter(start: start, end: end, isLast: true) }
    let limit = min(pending.count, end + Self.paddingLimit)
    while end < limit, [0x20, 0x09].contains(pending[end]) { end += 1 }
    if end < pending.count, pending[end] == 0x0D { end += 1 }
    guard end < pending.count, pending[end] == 0x0A else { return nil }
    return Delimiter(start: start, end: end + 1, isLast: false)
  }

  // MARK: Parts

  /// Divides a part into its header and its body.
  private static func part(_ bytes: ArraySlice<UInt8>) -> Part {
    var headers: [String: String] = [:]
    var rest = bytes
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      var line = rest[..<end]
      if line.last == 0x0D { line.removeLast() }
      let next = rest[end...].dropFirst()
      if line.isEmpty {
        rest = next
        break
      }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
        line.first != UInt8(ascii: "{"), line.first != UInt8(ascii: "[")
      else { break }  // No header at all.
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
      headers[name.trimmed] = value.trimmed
      rest = next
    }
    return Part(headers: headers, body: Foundation.Data(rest))
  }
}

/// A header field `Content-Type`.
struct GraphQLContentType {
  /// In lower case, such as `multipart/mixed`.
  var name: String
  /// By their names in lower case.
  var parameters: [String: String] = [:]

  init(_ text: String) {
    var rest = Substring(text)
    func next(until ends: Set<Character>) -> String {
      let part = rest.prefix { !ends.contains($0) }
      rest = rest[part.endIndex...]
      return String(part).trimmed
    }
    name = next(until: [";"]).lowercased()
    while rest.popFirst() != nil {
      let parameter = next(until: ["=", ";"]).lowercased()
      guard rest.first == "=" else { continue }
      rest.removeFirst()
      rest = rest.drop { $0 == " " || $0 == "\t" }
      guard rest.first == "\"" else {
        parameters[parameter] = next(until: [";"])
        continue
      }
      rest.removeFirst()
      var value = ""
      while let character = rest.popFirst(), character != "\"" {
        value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
      }
      parameters[parameter] = value
      _ = next(until: [";"])
    }
  }
}

extension String {
  /// Without the blanks around it.
  fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
