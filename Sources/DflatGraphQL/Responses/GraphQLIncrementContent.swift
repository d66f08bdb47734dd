// What increments are made of: the response as it came, and the part that a payload has brought.

import Foundation
import Platform

/// Everything that has come of a response, decoded when it is asked for.
final class GraphQLIncrementContent<Data: Codable & Hashable & Sendable>: Sendable {
  let errors: [GraphQLError]
  private let extensions: [String: GraphQLValue]
  private let whole: JSONTree
  private let decoded: Mutex<GraphQLResponse<Data>?>

  init(_ response: GraphQLResponse<Data>) {
    errors = response.errors
    extensions = response.extensions
    whole = .null
    decoded = Mutex(response)
  }

  init(_ whole: JSONTree, errors: [GraphQLError], extensions: [String: GraphQLValue]) {
    self.errors = errors
    self.extensions = extensions
    self.whole = whole
    decoded = Mutex(nil)
  }

  var response: GraphQLResponse<Data> {
    decoded.withLock { decoded in
      if let decoded { return decoded }
      var response = GraphQLResponse<Data>(data: nil, errors: errors, extensions: extensions)
      // Its parts were decoded when they came, so only a decoder that is different each time fails.
      do { response.data = try whole.data() } catch {
        response.errors.append(GraphQLError(message: "\(error)"))
      }
      decoded = response
      return response
    }
  }
}

/// Data of a response in which long lists have only those elements that a payload is about.
struct GraphQLResponsePart<Data: Codable & Hashable & Sendable>: Sendable {
  let data: Data?
  /// The shorter lists.
  let cuts: [ListCut]
}

/// A list of a response of which only some elements are decoded.
struct ListCut: Sendable {
  let path: [GraphQLPathElement]
  /// The places of these elements in the whole list, in order.
  let indices: [Int]
  let whole: [JSONTree]
}

extension JSONTree {
  /// The data of a response; nil for null.
  func data<Data: Codable & Hashable & Sendable>() throws -> Data? {
    if isNull { return nil }
    let json = Foundation.Data("{\"data\":".utf8) + bytes + Foundation.Data("}".utf8)
    return try GraphQLResponse<Data>(json: json).data
  }

  /// The data with only those elements of lists that a payload is about.
  /// - Parameters:
  ///   - rules: What is stored of the data.
  ///   - lists: The paths of the lists that are cut; nil for all. Some may be the value of a custom
  ///     scalar, which cannot be decoded then.
  func part<Data>(
    _ rules: MergeRuleNode?, lists: Set<[GraphQLPathElement]>?
  ) throws -> GraphQLResponsePart<Data> {
    var cuts: [ListCut] = []
    let tree = cut(at: [], rules, lists, &cuts)
    return GraphQLResponsePart(data: try tree.data(), cuts: cuts)
  }

  private func cut(
    at path: [GraphQLPathElement], _ rules: MergeRuleNode?, _ lists: Set<[GraphQLPathElement]>?,
    _ cuts: inout [ListCut]
  ) -> JSONTree {
    if let rules, !rules.isClosed { return self }
    switch self {
    case .atom: return self
    case .object(let object):
      return .object(
        object.map { $1.cut(at: path + [.key($0)], rules?.fields[$0], lists, &cuts) })
    case .list(let list):
      if let lists, !lists.contains(path) {
        return .list(
          list.enumerated().map { index, element in
            let inner = rules.map { $0.element(index) ?? MergeRuleNode() }
            return element.cut(at: path + [.index(index)], inner, lists, &cuts)
          })
      }
      if rules == nil, isShortValue { return self }
      let stored = rules?.storedElements(list.count) ?? []
      if let rules, !rules.hasFailed {
        cuts.append(ListCut(path: path, indices: stored.map(\.index), whole: list))
      }
      return .list(
        stored.map { index, rules in
          let inner = rules.node ?? MergeRuleNode()
          return list[index].cut(at: path + [.index(index)], inner, lists, &cuts)
        })
    }
  }

  /// Whether this is a list such as a custom scalar for a point has.
  private var isShortValue: Bool {
    guard let elements, elements.count <= 4 else { return false }
    return elements.allSatisfy { if case .atom = $0 { !$0.isNull } else { false } }
  }
}
