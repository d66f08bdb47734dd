// Texts as the bytes of a response, divided as a transport may divide them.

import DflatGraphQL
import Foundation

/// Pieces of a body, one after another, and an error behind them if there is one.
struct Chunks: AsyncSequence, Sendable {
  typealias Element = ArraySlice<UInt8>
  var pieces: [ArraySlice<UInt8>]
  var error: (any Error)?

  init(_ text: String, every size: Int = .max, error: (any Error)? = nil) {
    let bytes = Array(text.utf8)
    pieces = stride(from: 0, to: bytes.count, by: Swift.min(size, Swift.max(bytes.count, 1)))
      .map { bytes[$0..<Swift.min($0.advanced(by: Swift.min(size, bytes.count)), bytes.count)] }
    self.error = error
  }

  /// Two pieces.
  init(_ text: String, splitAt place: Int) {
    let bytes = Array(text.utf8)
    pieces = [bytes[..<place], bytes[place...]]
  }

  struct Iterator: AsyncIteratorProtocol {
    var pieces: ArraySlice<ArraySlice<UInt8>>
    let error: (any Error)?

    mutating func next() async throws -> ArraySlice<UInt8>? {
      if let piece = pieces.popFirst() { return piece }
      if let error { throw error }
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces[...], error: error) }
}

extension AsyncSequence {
  /// All elements.
  func all() async throws -> [Element] {
    var all: [Element] = []
    for try await element in self { all.append(element) }
    return all
  }
}

/// A query whose data are any JSON.
struct AnyQuery: GraphQLQuery {
  static let operationName = "Any"
  static let document = "query Any { any }"
  var variables = GraphQLNoVariables()
  typealias Data = GraphQLValue
}

/// The JSON of a text.
func value(_ json: String) throws -> GraphQLValue {
  try JSONDecoder().decode(GraphQLValue.self, from: Data(json.utf8))
}
