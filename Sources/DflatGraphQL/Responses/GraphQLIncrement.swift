// Incremental delivery: what a response has after each of its payloads (`@defer`, `@stream`).
//
// An increment has the whole response as it came, and decodes it when it is asked for. What its
// payloads have brought is decoded at once, without the rest of lists, and is enough to store it.
// So reading a stream takes time in proportion to the stream. Payloads that have come together are
// one increment, since storing writes the list that gets longer.

import Foundation

/// What is known of a response after one of its payloads, or after several that have come together.
public struct GraphQLIncrement<Data: Codable & Hashable & Sendable>: Sendable {
  private var content: GraphQLIncrementContent<Data>
  /// What the payloads have brought, for storing; nil if that is all.
  private(set) var part: GraphQLResponsePart<Data>?
  /// What has come since the last increment, in order; nil for the first one, which has everything
  /// that is there.
  public var deliveries: [GraphQLDelivery]? { didSet { part = nil } }
  /// Whether more payloads follow.
  public var hasNext: Bool

  /// Everything that has come so far. It is decoded when it is asked for, once.
  public var response: GraphQLResponse<Data> {
    get { content.response }
    set {
      content = GraphQLIncrementContent(newValue)
      part = nil
    }
  }

  /// The errors that have come so far.
  var errors: [GraphQLError] { content.errors }

  /// Creates an increment from its parts.
  public init(
    response: GraphQLResponse<Data>, deliveries: [GraphQLDelivery]? = nil, hasNext: Bool = false
  ) {
    self.init(GraphQLIncrementContent(response), deliveries: deliveries, hasNext: hasNext)
  }

  init(
    _ content: GraphQLIncrementContent<Data>, part: GraphQLResponsePart<Data>? = nil,
    deliveries: [GraphQLDelivery]?, hasNext: Bool
  ) {
    self.content = content
    self.part = part
    self.deliveries = deliveries
    self.hasNext = hasNext
  }
}

extension GraphQLIncrement: Hashable {
  /// Whether both have the same response, deliveries and end.
  public static func == (left: Self, right: Self) -> Bool {
    left.hasNext == right.hasNext && left.deliveries == right.deliveries
      && left.response == right.response
  }

  /// Hashes the response, the deliveries and the end.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(response)
    hasher.combine(deliveries)
    hasher.combine(hasNext)
  }
}

/// A deferred fragment, or elements of a streamed list, that a payload has brought.
public struct GraphQLDelivery: Hashable, Sendable {
  /// The object to which the fragment belongs, or the list, from the root of the data.
  public var path: [GraphQLPathElement]
  /// The label in the directive, if it has one.
  public var label: String?
  /// The keys of the object that earlier payloads do not have, or have with another value; nil for
  /// a list.
  public var keys: [String]?
  /// The places of the elements that a list has got; nil for an object, and for a list that is
  /// another one as a whole.
  public var elements: Range<Int>?

  /// Creates a delivery from its parts.
  public init(
    path: [GraphQLPathElement], label: String? = nil, keys: [String]? = nil,
    elements: Range<Int>? = nil
  ) {
    self.path = path
    self.label = label
    self.keys = keys
    self.elements = elements
  }
}
