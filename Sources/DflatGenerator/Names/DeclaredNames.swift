// DeclaredNames: the types and namespaces of a Swift module, by the paths that lead to them.

struct DeclaredNames {
  /// The names directly in each type or namespace; [] is the module.
  private var members: [[String]: Set<String>] = [:]

  /// All names, at any depth.
  var all: Set<String> { members.values.reduce(into: []) { $0.formUnion($1) } }

  /// The names directly in a type or namespace.
  subscript(path: [String]) -> Set<String> { members[path] ?? [] }

  /// Enters a type or namespace, and those that contain it.
  mutating func insert(_ path: [String]) {
    for depth in path.indices {
      members[Array(path[..<depth]), default: []].insert(path[depth])
    }
  }
}
