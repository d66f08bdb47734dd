// Incremental delivery: a response that comes in several payloads (`@defer`, `@stream`).
//
// There are three forms. The oldest has `path` beside `data`; the one with
// `deferSpec=20220824` has a list `incremental`, each with its own path; the newest announces
// places as `pending`, under ids to which `incremental` and `completed` refer.

public import Foundation

/// What is known of a response after one of its payloads.
public struct GraphQLIncrement<Data: Codable & Hashable & Sendable>: Hashable, Sendable {
  /// Everything that has come so far.
  public var response: GraphQLResponse<Data>
  /// What this payload has brought; nil for the first one, which has brought everything that is
  /// there.
  public var deliveries: [GraphQLDelivery]?
  /// Whether more payloads follow.
  public var hasNext: Bool

  /// Creates an increment from its parts.
  public init(
    response: GraphQLResponse<Data>, deliveries: [GraphQLDelivery]? = nil, hasNext: Bool = false
  ) {
    self.response = response
    self.deliveries = deliveries
    self.hasNext = hasNext
  }
}

/// A deferred fragment, or elements of a streamed list, that a payload has brought.
public struct GraphQLDelivery: Hashable, Sendable {
  /// The object to which the fragment belongs, or the list, from the root of the data.
  public var path: [GraphQLPathElement]
  /// The label in the directive, if it has one.
  public var label: String?
  /// The keys of the fragment's fields; nil for a list.
  public var keys: [String]?

  /// Creates a delivery from its parts.
  public init(path: [GraphQLPathElement], label: String? = nil, keys: [String]? = nil) {
    self.path = path
    self.label = label
    self.keys = keys
  }
}

/// Puts the payloads of one response together.
///
///     var decoder = GraphQLIncrementDecoder<HeroDetailsQuery.Data>()
///     for payload in payloads {
///       if let increment = try decoder.decode(payload) { print(increment.response) }
///     }
///
/// Each payload is merged into what has come before, and the whole is decoded.
public struct GraphQLIncrementDecoder<Data: Codable & Hashable & Sendable>: Sendable {
  /// What has come so far; nil before the first payload.
  private var whole: JSONTree?
  private var errors: [GraphQLError] = []
  private var extensions: [String: GraphQLValue] = [:]
  private var pending: [String: GraphQLDelivery] = [:]
  /// How many bytes all payloads may have, and how many they have.
  private let limit: Int
  private var size = 0
  /// Whether a payload follows; false after the last one.
  public private(set) var hasNext = true

  /// Creates a decoder for one response.
  /// - Parameter responseLimit: How many bytes all payloads together may have, so that a server
  ///   cannot exhaust memory.
  public init(responseLimit: Int = 1 << 28) { limit = responseLimit }

  /// Adds a payload.
  ///
  /// - Parameter json: The payload, for example the body of a part of a `multipart/mixed` response.
  /// - Returns: What is known now; nil if the payload says nothing, as one that only keeps a
  ///   connection open.
  /// - Throws: ``GraphQLDecodingError``, ``GraphQLTransportError/unknownPlace(_:)``, or
  ///   ``GraphQLTransportError/responseTooLarge(limit:)``.
  public mutating func decode(_ json: Foundation.Data) throws -> GraphQLIncrement<Data>? {
    let tree = try JSONTree(json)
    guard case .object(let object) = tree else {
      throw GraphQLDecodingError(path: [], reason: "a payload is an object")
    }
    // One that only keeps the connection open does not count: a stream may last for days.
    if object.members.isEmpty { return nil }
    size += json.count
    if size > limit { throw GraphQLTransportError.responseTooLarge(limit: limit) }
    let isFirst = whole == nil
    hasNext = try tree["hasNext"]?.decode(Bool.self) ?? false
    try note(tree)
    for place in tree["pending"]?.elements ?? [] {
      let id = try place["id"].map(Self.text) ?? ""
      pending[id] = GraphQLDelivery(
        path: try place["path"]?.decode([GraphQLPathElement].self) ?? [],
        label: try place["label"]?.decode(String.self))
    }
    var deliveries: [GraphQLDelivery] = []
    if isFirst {
      guard object["data"] != nil || object["errors"] != nil else {
        throw GraphQLDecodingError(
          path: [], reason: "the first payload has neither the key data nor the key errors")
      }
      whole = object["data"] ?? .null
    } else if object["path"] != nil {
      try deliver(tree, &deliveries)
    }
    for part in tree["incremental"]?.elements ?? [] {
      try note(part)
      try deliver(part, &deliveries)
    }
    for completed in tree["completed"]?.elements ?? [] {
      try note(completed)
      if let id = try completed["id"].map(Self.text) { pending[id] = nil }
    }
    return GraphQLIncrement(
      response: GraphQLResponse(data: try data(), errors: errors, extensions: extensions),
      deliveries: isFirst ? nil : deliveries, hasNext: hasNext)
  }

  /// An id: a text, or a number of servers that are less strict.
  private static func text(_ id: JSONTree) throws -> String {
    try String(graphQL: id.decode(GraphQLValue.self))
  }

  private mutating func note(_ part: JSONTree) throws {
    errors += try part["errors"]?.decode([GraphQLError].self) ?? []
    if let more = try part["extensions"]?.decode([String: GraphQLValue].self) {
      extensions.merge(more) { $1 }
    }
  }

  /// Merges a fragment, or elements of a list.
  private mutating func deliver(_ part: JSONTree, _ deliveries: inout [GraphQLDelivery]) throws {
    var delivery = GraphQLDelivery(path: [])
    let id = try part["id"].map(Self.text)
    if let id {
      guard let place = pending[id] else {
        throw GraphQLTransportError.unknownPlace("the pending id \(id)")
      }
      delivery = place
      delivery.path += try part["subPath"]?.decode([GraphQLPathElement].self) ?? []
    } else {
      delivery.path = try part["path"]?.decode([GraphQLPathElement].self) ?? []
      delivery.label = try part["label"]?.decode(String.self)
    }
    let isDone: Bool
    if let items = part["items"]?.elements {
      // The older form names the first element; the list is what is around it.
      if id == nil, case .index? = delivery.path.last { delivery.path.removeLast() }
      isDone = whole?.change(at: delivery.path[...]) { $0.append(items) } ?? false
    } else if let fields = part["data"] {
      if case .object(let object) = fields { delivery.keys = object.members.map(\.key) }
      isDone =
        whole?.change(at: delivery.path[...]) { target in
          guard case .object = target else { return false }
          target.merge(fields)
          return true
        } ?? false
    } else {
      return  // It has failed, and its errors say why.
    }
    guard isDone else {
      throw GraphQLTransportError.unknownPlace("\"\(delivery.path.text)\"")
    }
    deliveries.append(delivery)
  }

  private func data() throws -> Data? {
    guard let whole, !whole.isNull else { return nil }
    let json = Foundation.Data("{\"data\":".utf8) + whole.bytes + Foundation.Data("}".utf8)
    return try GraphQLResponse<Data>(json: json).data
  }
}
