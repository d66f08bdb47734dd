// GraphQLEventParser: server-sent events (`text/event-stream`), as their bytes arrive.
//
// Lines end with CR, LF or CRLF. An empty line ends an event; one without data is none. Lines that
// begin with a colon are comments, which keep the connection open.

/// An event that a server has sent.
public struct GraphQLServerEvent: Hashable, Sendable {
  /// The type: `next` or `complete` in GraphQL over server-sent events.
  public var name: String
  /// Its lines, with a line break between two.
  public var data: String
  /// The last id that the server has sent; empty if it has sent none.
  public var id: String

  /// Creates an event from its parts.
  public init(name: String = "message", data: String, id: String = "") {
    self.name = name
    self.data = data
    self.id = id
  }
}

/// Divides a stream of server-sent events into these.
public struct GraphQLEventParser: Sendable {
  private let limit: Int
  private var line: [UInt8] = []
  private var name = ""
  private var data: [UInt8] = []
  private var hasData = false
  private var id = ""
  private var isBehindReturn = false
  private var isFirstLine = true

  /// Creates a parser.
  /// - Parameter eventLimit: How many bytes an event may have, so that a server cannot exhaust
  ///   memory.
  public init(eventLimit: Int = 1 << 28) { limit = eventLimit }

  /// Adds bytes of the stream.
  ///
  /// - Parameter bytes: The next bytes, any number of them.
  /// - Returns: The events that they complete, in order.
  /// - Throws: ``GraphQLTransportError/partTooLarge(limit:)``.
  public mutating func append(
    _ bytes: some Sequence<UInt8>
  ) throws(GraphQLTransportError) -> [GraphQLServerEvent] {
    var events: [GraphQLServerEvent] = []
    for byte in bytes {
      let isSecond = isBehindReturn && byte == 0x0A
      isBehindReturn = byte == 0x0D
      if isSecond { continue }
      if byte == 0x0A || byte == 0x0D {
        if let event = endLine() { events.append(event) }
      } else {
        line.append(byte)
        if line.count + data.count > limit { throw .partTooLarge(limit: limit) }
      }
    }
    return events
  }

  private mutating func endLine() -> GraphQLServerEvent? {
    var content = line[...]
    if isFirstLine, content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
    isFirstLine = false
    defer { line.removeAll(keepingCapacity: true) }
    guard !content.isEmpty else {
      defer {
        name = ""
        data = []
        hasData = false
      }
      // Services end an operation also by an event without data.
      return hasData || name == "complete"
        ? GraphQLServerEvent(
          name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self), id: id
        )
        : nil
    }
    let colon = content.firstIndex(of: UInt8(ascii: ":")) ?? content.endIndex
    var value = content[colon...].dropFirst()
    if value.first == 0x20 { value = value.dropFirst() }
    switch String(decoding: content[..<colon], as: UTF8.self) {
    case "event": name = String(decoding: value, as: UTF8.self)
    case "data":
      if hasData { data.append(0x0A) }
      hasData = true
      data += value
    case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
    default: break
    }
    return nil
  }
}
