// A type system, complete and checked: every name in it is resolved.

/// The types and directives of a GraphQL service.
///
/// A schema that could be built has no errors: every reference names a type of it, of a kind that
/// may stand there.
///
///     let result = Schema.load(files: ["schema.graphqls"])
///     for diagnostic in result.diagnostics { print(diagnostic.rendered()) }
///     guard let schema = result.value else { exit(1) }
public final class Schema: Sendable {
  /// The names of directives that clients read, and servers do not have to know: they are not sent.
  package static var clientDirectives: Set<String> { Prelude.clientDirectives }

  /// The description.
  public let description: String?
  /// All types, in schema order; built-in types that the texts do not mention come last.
  public let types: [NamedType]
  /// All directives, in schema order; built-in ones that the texts do not mention come last.
  public let directives: [DirectiveDefinition]
  /// The names of the root types that are given.
  let rootNames: [OperationKind: String]
  private let typeTable: [String: NamedType]
  private let directiveTable: [String: DirectiveDefinition]
  private let implementations: [String: [NamedType]]
  private let possible: [String: [NamedType]]
  private let possibleNames: [String: Set<String>]
  private let introspection: [String: OutputField]

  /// The type of the fields that queries select.
  public var queryType: NamedType? { rootType(of: .query) }
  /// The type of the fields that mutations select; nil if there are none.
  public var mutationType: NamedType? { rootType(of: .mutation) }
  /// The type of the fields that subscriptions select; nil if there are none.
  public var subscriptionType: NamedType? { rootType(of: .subscription) }

  /// The type whose fields operations of a kind select.
  public func rootType(of operation: OperationKind) -> NamedType? {
    rootNames[operation].flatMap { typeTable[$0] }
  }

  /// The type called `name`.
  public func type(named name: String) -> NamedType? { typeTable[name] }

  /// The type inside all lists and non-nulls.
  public func type(in reference: TypeReference) -> NamedType? { typeTable[reference.name] }

  /// The directive called `name`, without `@`.
  public func directive(named name: String) -> DirectiveDefinition? { directiveTable[name] }

  /// The field that a selection means: one of the type, or `__typename`, or at the root of queries
  /// `__schema` and `__type`.
  public func field(named name: String, in parent: NamedType) -> OutputField? {
    guard name.utf8.first == 0x5F, let meta = introspection[name] else {
      return parent.kind == .union ? nil : parent.field(named: name)
    }
    if name == "__typename" { return parent.isComposite ? meta : nil }
    return parent.name == rootNames[.query] ? meta : nil
  }

  /// The object types of which a value can be, in schema order: all that implement an interface,
  /// the members of a union, an object type itself; none for others.
  public func possibleTypes(of type: NamedType) -> [NamedType] {
    type.kind == .object ? [type] : possible[type.name] ?? []
  }

  /// The objects and interfaces that implement an interface, in schema order.
  public func implementations(of interface: NamedType) -> [NamedType] {
    implementations[interface.name] ?? []
  }

  /// Whether a value of object type `object` can stand where `type` is expected.
  public func isPossible(_ object: NamedType, in type: NamedType) -> Bool {
    type.kind == .object
      ? type.name == object.name : possibleNames[type.name]?.contains(object.name) == true
  }

  /// Whether every value of `type` is one of `other`: it is the same type, or an object or
  /// interface that implements it, or an object that is a member of it.
  public func isSubtype(_ type: NamedType, of other: NamedType) -> Bool {
    if type.name == other.name { return true }
    switch other.kind {
    case .interface: return type.interfaces.contains(other.name)
    case .union: return other.members.contains(type.name)
    default: return false
    }
  }

  /// Whether a value of one type can stand where the other is expected.
  public func isSubtype(_ type: TypeReference, of other: TypeReference) -> Bool {
    switch (type, other) {
    case (.nonNull(let inner), .nonNull(let expected)): isSubtype(inner, of: expected)
    case (_, .nonNull): false
    case (.nonNull(let inner), _): isSubtype(inner, of: other)
    case (.list(let element), .list(let expected)): isSubtype(element, of: expected)
    case (.named(let name), .named(let expected)):
      if let a = typeTable[name], let b = typeTable[expected] { isSubtype(a, of: b) } else { false }
    default: false
    }
  }

  /// Whether some object is of both types.
  public func overlap(_ type: NamedType, _ other: NamedType) -> Bool {
    if type.name == other.name { return true }
    if type.kind == .object { return isPossible(type, in: other) }
    if other.kind == .object { return isPossible(other, in: type) }
    guard let names = possibleNames[type.name], let others = possibleNames[other.name] else {
      return false
    }
    return !names.isDisjoint(with: others)
  }

  init(
    description: String?, types: [NamedType], directives: [DirectiveDefinition],
    rootNames: [OperationKind: String], introspection: [OutputField]
  ) {
    self.description = description
    self.types = types
    self.directives = directives
    self.rootNames = rootNames
    self.introspection = Dictionary(
      introspection.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let table = Dictionary(types.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    typeTable = table
    directiveTable = Dictionary(
      directives.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var implementations: [String: [NamedType]] = [:]
    var possible: [String: [NamedType]] = [:]
    for type in types {
      for interface in type.interfaces {
        implementations[interface, default: []].append(type)
        if type.kind == .object { possible[interface, default: []].append(type) }
      }
      if type.kind == .union { possible[type.name] = type.members.compactMap { table[$0] } }
    }
    self.implementations = implementations
    self.possible = possible
    possibleNames = possible.mapValues { Set($0.map(\.name)) }
  }
}
