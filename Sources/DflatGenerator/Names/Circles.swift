// Circles: plain tables and unions that contain themselves, directly or indirectly.
//
// A Swift value cannot contain itself. So inside a cycle a table's field is boxed and a union is
// `indirect`. Vectors store their elements elsewhere, fixed structs cannot be cyclic, and an entity
// stores only its row: none of these counts as an edge.

import DflatSchema

struct Circles {
  /// The cycle of each type that is in one.
  private var circle: [QualifiedName: Int] = [:]

  init(schema: Schema, entities: Set<QualifiedName>) {
    var edges: [QualifiedName: [QualifiedName]] = [:]
    func target(_ type: FieldType) -> QualifiedName? {
      switch type {
      case .table(let name), .union(let name): entities.contains(name) ? nil : name
      default: nil
      }
    }
    for (name, definition) in schema.types where !entities.contains(name) {
      switch definition {
      case .table(let table):
        edges[name] = table.fields.filter { !$0.isDeprecated }.compactMap { target($0.type) }
      case .union(let union): edges[name] = union.members.compactMap { target($0.type) }
      case .enumeration, .structure: break
      }
    }
    // Tarjan's algorithm for strongly connected components, with an explicit stack, because schemas
    // may be nested to any depth.
    var index: [QualifiedName: Int] = [:]
    var low: [QualifiedName: Int] = [:]
    var open: Set<QualifiedName> = []
    var path: [QualifiedName] = []
    var circles = 0
    for start in edges.keys where index[start] == nil {
      var work: [(node: QualifiedName, next: Int)] = [(start, 0)]
      while let (node, next) = work.last {
        if next == 0 {
          index[node] = index.count
          low[node] = index[node]
          path.append(node)
          open.insert(node)
        }
        let targets = edges[node] ?? []
        if next < targets.count {
          work[work.count - 1].next += 1
          let target = targets[next]
          if index[target] == nil {
            work.append((target, 0))
          } else if open.contains(target) {
            low[node] = min(low[node]!, index[target]!)
          }
          continue
        }
        work.removeLast()
        if let parent = work.last?.node { low[parent] = min(low[parent]!, low[node]!) }
        guard low[node] == index[node], let first = path.lastIndex(of: node) else { continue }
        let component = path[first...]
        path.removeSubrange(first...)
        open.subtract(component)
        guard component.count > 1 || targets.contains(node) else { continue }
        for member in component { circle[member] = circles }
        circles += 1
      }
    }
  }

  /// Whether the type contains itself.
  func contains(_ name: QualifiedName) -> Bool { circle[name] != nil }

  /// Whether a value of `inner` inside one of `outer` closes a cycle.
  func connects(_ outer: QualifiedName, _ inner: QualifiedName) -> Bool {
    circle[outer] != nil && circle[outer] == circle[inner]
  }
}
