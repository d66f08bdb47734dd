// Putting the payloads of one response together.
//
// There are three forms. The oldest has `path` beside `data`; the one with
// `deferSpec=20220824` has a list `incremental`, each with its own path; the newest announces
// places as `pending`, under ids to which `incremental` and `completed` refer.

public import Foundation

/// Puts the payloads of one response together.
///
///     var decoder = GraphQLIncrementDecoder<HeroDetailsQuery.Data>()
///     for payload in payloads {
///       if let increment = try decoder.decode(payload) { print(increment.response) }
///     }
///
/// Each payload is merged into what has come before.
public struct GraphQLIncrementDecoder<Data: Codable & Hashable & Sendable>: Sendable {
  /// What has come so far; nil before the first payload.
  private var whole: JSONTree?
  private var errors: [GraphQLError] = []
  private var extensions: [String: GraphQLValue] = [:]
  private var pending: [String: GraphQLDelivery] = [:]
  /// The lists that payloads were about.
  private var lists: Set<[GraphQLPathElement]> = []
  /// Whether a list that no payload is about is the value of a custom scalar, and is needed.
  private var needsOtherLists = false
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
    try decode(together: CollectionOfOne(json))
  }

  /// Adds payloads that have come together, up to the last one of the response.
  ///
  /// - Returns: What is known after them; nil if none says anything.
  mutating func decode(
    together payloads: some Sequence<Foundation.Data>
  ) throws -> GraphQLIncrement<Data>? {
    let isFirst = whole == nil
    var deliveries: [GraphQLDelivery] = []
    var isSilent = true
    for payload in payloads where try add(payload, &deliveries) {
      isSilent = false
      if !hasNext { break }
    }
    return isSilent ? nil : try increment(isFirst ? nil : deliveries)
  }

  /// Merges a payload; false if it says nothing.
  private mutating func add(
    _ json: Foundation.Data, _ deliveries: inout [GraphQLDelivery]
  ) throws -> Bool {
    let tree = try JSONTree(json)
    guard case .object(let object) = tree else {
      throw GraphQLDecodingError(path: [], reason: "a payload is an object")
    }
    // One that only keeps the connection open does not count: a stream may last for days.
    if object.members.isEmpty { return false }
    size += json.count
    if size > limit { throw GraphQLTransportError.responseTooLarge(limit: limit) }
    hasNext = try tree["hasNext"]?.decode(Bool.self) ?? false
    try note(tree)
    for place in tree["pending"]?.elements ?? [] {
      let id = try place["id"].map(Self.text) ?? ""
      pending[id] = GraphQLDelivery(
        path: try place["path"]?.decode([GraphQLPathElement].self) ?? [],
        label: try place["label"]?.decode(String.self))
    }
    if whole == nil {
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
    return true
  }

  private mutating func increment(_ deliveries: [GraphQLDelivery]?) throws -> GraphQLIncrement<Data>
  {
    guard let deliveries, let whole else {
      let response = GraphQLResponse<Data>(
        data: try whole?.data(), errors: errors, extensions: extensions)
      return GraphQLIncrement(response: response, hasNext: hasNext)
    }
    return GraphQLIncrement(
      GraphQLIncrementContent(whole, errors: errors, extensions: extensions),
      part: try part(of: whole, MergeRuleNode.root(errors: [], pages: [], deliveries: deliveries)),
      deliveries: deliveries, hasNext: hasNext)
  }

  /// What is stored of the data, as little of it as can be decoded.
  private mutating func part(
    of whole: JSONTree, _ rules: MergeRuleNode?
  ) throws -> GraphQLResponsePart<Data> {
    if !needsOtherLists, let part: GraphQLResponsePart<Data> = try? whole.part(rules, lists: nil) {
      return part
    }
    do {
      let part: GraphQLResponsePart<Data> = try whole.part(rules, lists: lists)
      needsOtherLists = true
      return part
    } catch {
      // The whole has the path of what is wrong.
      return GraphQLResponsePart(data: try whole.data(), cuts: [])
    }
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
      isDone = append(items, &delivery)
      deliveries.append(delivery)
    } else if let element = newElement(part, delivery.path) {
      delivery.path.removeLast()
      isDone = append([element], &delivery)
      deliveries.append(delivery)
    } else if let fields = part["data"] {
      isDone = merge(fields, delivery, &deliveries)
    } else {
      return  // It has failed, and its errors say why.
    }
    guard isDone else {
      throw GraphQLTransportError.unknownPlace("\"\(delivery.path.text)\"")
    }
    for (length, step) in delivery.path.enumerated() {
      if case .index = step { lists.insert(Array(delivery.path.prefix(length))) }
    }
  }

  /// The element of a streamed list that a payload of the oldest form has as its data.
  private func newElement(_ part: JSONTree, _ path: [GraphQLPathElement]) -> JSONTree? {
    guard case .object(let object) = part, let element = object["data"],
      case .index(let index)? = path.last,
      whole?.value(at: path.dropLast())?.elements?.count == index
    else { return nil }
    return element
  }

  private mutating func append(_ items: [JSONTree], _ delivery: inout GraphQLDelivery) -> Bool {
    var elements: Range<Int>?
    _ = whole?.change(at: delivery.path[...]) { list in
      let count = list.elements?.count ?? 0
      guard list.append(items) else { return false }
      elements = count..<(count + items.count)
      return true
    }
    delivery.elements = elements
    lists.insert(delivery.path)
    return elements != nil
  }

  private mutating func merge(
    _ fields: JSONTree, _ delivery: GraphQLDelivery, _ deliveries: inout [GraphQLDelivery]
  ) -> Bool {
    var changes: [GraphQLDelivery] = []
    let isDone =
      whole?.change(at: delivery.path[...]) { target in
        guard case .object = target, case .object = fields else { return false }
        target.merge(fields, at: delivery.path, &changes)
        return true
      } ?? false
    // The fragment has come, also if everything in it had come before.
    if changes.last?.path != delivery.path {
      changes.append(GraphQLDelivery(path: delivery.path, keys: []))
    }
    for var change in changes.reversed() {
      change.label = delivery.label
      deliveries.append(change)
    }
    return isDone
  }
}
