// UnreadableValue: which text or number of a response no type of Swift, or not that of its field,
// has.
//
// JSON allows numbers such as 1e400, and texts such as "\ud800", half of a surrogate pair.
// Foundation says that the JSON is not valid, and does not say where.

import Foundation

struct UnreadableValue {
  let path: [GraphQLPathElement]
  let reason: String

  /// The number or text at a path; nil if there is something else.
  init?(at path: [GraphQLPathElement], in json: Foundation.Data) {
    guard case .atom(let atom)? = try? JSONTree(json).value(at: path) else { return nil }
    let number = String(decoding: atom, as: UTF8.self)
    self = Self(atom, at: path) ?? Self(path: path, misfit: number)
  }

  /// A number that does not fit the type of its field.
  init(path: [GraphQLPathElement], misfit number: String) {
    self.path = path
    reason = "the number \(number) does not fit the field's type"
  }

  /// The first one of a response; nil if there is none, and if the response is no JSON.
  init?(in json: Foundation.Data) {
    guard let found = try? JSONTree(json).firstUnreadable(at: []) else { return nil }
    self = found
  }

  fileprivate init?(_ atom: ArraySlice<UInt8>, at path: [GraphQLPathElement]) {
    let isText = atom.first == UInt8(ascii: "\"")
    let written = String(decoding: atom.prefix(60), as: UTF8.self)
    if isText {
      let isPlain = !atom.contains(UInt8(ascii: "\\"))
      if isPlain, String(validating: atom, as: UTF8.self) != nil { return nil }
      if (try? JSONTree.atom(atom).decode(String.self)) != nil { return nil }
      reason = "the text \(written) is no Unicode"
    } else {
      guard let number = Double(written), !number.isFinite else { return nil }
      reason = "the number \(written) is too large"
    }
    self.path = path
  }
}

extension JSONTree {
  fileprivate func firstUnreadable(at path: [GraphQLPathElement]) -> UnreadableValue? {
    switch self {
    case .atom(let atom): return UnreadableValue(atom, at: path)
    case .list(let list):
      for (index, value) in list.enumerated() {
        if let found = value.firstUnreadable(at: path + [.index(index)]) { return found }
      }
    case .object(let object):
      for member in object.members {
        if let found = member.value.firstUnreadable(at: path + [.key(member.key)]) { return found }
      }
    }
    return nil
  }
}
