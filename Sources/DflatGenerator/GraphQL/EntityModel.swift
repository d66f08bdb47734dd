// EntityModel: the schema of one entity before it is text.
//
// All types but the root are in the namespace of the entity's name, and are referred to by their
// bare names.

struct EntityModel {
  /// The type of a field.
  indirect enum Value: Equatable {
    /// A scalar or `string`.
    case scalar(String)
    /// A type of the namespace.
    case named(String)
    case list(Value)

    /// The name inside all lists, if it is that of a type.
    var typeName: String? {
      switch self {
      case .scalar: nil
      case .named(let name): name
      case .list(let element): element.typeName
      }
    }

    /// The type in schema syntax.
    func text(prefix: String) -> String {
      switch self {
      case .scalar(let name): name
      case .named(let name): prefix + name
      case .list(let element): "[\(element.text(prefix: prefix))]"
      }
    }
  }

  /// An attribute with its value; those without one are words.
  struct Attribute: Equatable {
    var name: String
    var value: String?

    var text: String { value.map { "\(name): \"\($0)\"" } ?? name }
  }

  struct Field: Equatable {
    var name: String
    var type: Value
    /// Whether a scalar may be absent, which is not its default value then.
    var isOptional = false
    /// Whether it is optional only if no earlier schema says something else.
    var followsEarlier = false
    var attributes: [Attribute] = []
    /// The slot, if it is to be written; that of a union's value.
    var slot: Int?

    /// The Swift type of its values, without a unit; nil if it is that of the stored type.
    var form: String? {
      attributes.first { $0.name == "swift" }?.value.map { ScalarMapping("string:" + $0).type }
    }

    var isOfFoundation: Bool { form.map(ResponseTypes.foundation.contains) ?? false }

    var isDeprecated: Bool { attributes.contains { $0.name == "deprecated" } }
  }

  struct Table {
    var name: String
    var version: String
    var fields: [Field]
    /// Further attributes.
    var attributes: [Attribute] = []
  }

  struct EnumValue {
    var name: String
    /// Written only if it is not the next number.
    var number: Int64
  }

  enum Declaration {
    case table(Table)
    case enumeration(String, [EnumValue])
    case union(String, [String])

    var name: String {
      switch self {
      case .table(let table): table.name
      case .enumeration(let name, _), .union(let name, _): name
      }
    }

    /// The types that it refers to, fields in the order of their names.
    var references: [String] {
      switch self {
      case .table(let table):
        table.fields.sorted { $0.name < $1.name }.compactMap(\.type.typeName)
      case .enumeration: []
      case .union(_, let members): members
      }
    }
  }

  /// The entity's name.
  var entity: String
  /// The files of other entities to which it refers.
  var includes: [String] = []
  /// The types of the namespace by name.
  var types: [String: Declaration]
  var root: Table

  /// Whether objects are stored by themselves; otherwise the entity is a plain value.
  var isStored: Bool { root.fields.contains { $0.attributes.contains { $0.name == "primary" } } }

  /// The types of the namespace that the root needs; each is behind those that it refers to.
  var ordered: [Declaration] {
    var order: [Declaration] = []
    // The reverse of the order of discovery is this one, from the last reference to the first.
    visitDepthFirst(
      Declaration.table(root).references.reversed(),
      children: { types[$0]?.references.reversed() ?? [] },
      leave: { if let type = types[$0] { order.append(type) } })
    return order
  }
}

/// Visits nodes depth first, each once, without recursion. A node that is being visited is not
/// entered again.
func visitDepthFirst(
  _ roots: some Sequence<String>, children: (String) -> [String], leave: (String) -> Void
) {
  var seen: Set<String> = []
  for root in roots where seen.insert(root).inserted {
    var stack = [(node: root, rest: children(root)[...])]
    while let top = stack.last {
      guard let next = top.rest.first else {
        leave(top.node)
        stack.removeLast()
        continue
      }
      stack[stack.count - 1].rest.removeFirst()
      if seen.insert(next).inserted { stack.append((next, children(next)[...])) }
    }
  }
}
