// The names of a root table's storage: its table, and the paths of its secondary indexes.
//
// Paths follow references and union members but not vectors, and no path passes through the same
// table type twice. They are in declaration order, depth first, so that every run and every build
// names the same indexes in the same order. Compound indexes follow, in the order of the attribute.

/// An index of a root: an indexed field with its path from the root, or several fields.
public struct IndexPath: Hashable, Sendable {
  /// The storage name: `f10`, `f20__type`, `f20__u1__f4`; of a compound index,
  /// `x__f6__x__f10`.
  public var path: String
  /// Whether the values under this path must be unique.
  public var isUnique: Bool
  /// Where the indexed field is declared; for a compound index, where it is.
  public var position: SourcePosition
  /// The fields of a compound index; nil for the index of a single field.
  public var compound: CompoundIndex?

  /// Creates the path of an indexed field from its parts.
  public init(path: String, isUnique: Bool, position: SourcePosition) {
    self.path = path
    self.isUnique = isUnique
    self.position = position
  }

  /// Creates the path of a compound index.
  public init(_ index: CompoundIndex) {
    self.init(path: index.storageName, isUnique: index.isUnique, position: index.position)
    compound = index
  }
}

extension Schema {
  /// The maximum number of indexes for the root of a compiled file.
  public static let indexPathLimit = 10_000

  /// The secondary indexes of `root`: those of single fields in declaration order, depth first,
  /// then the compound ones.
  ///
  /// A root that was compiled as such never has more than `indexPathLimit`; for any other table the
  /// walk stops there. Empty if `root` is not a table of this schema.
  public func indexPaths(of root: QualifiedName) -> [IndexPath] {
    var walk = FieldWalk(schema: self, \.isIndexed)
    walk.run(root)
    let found = walk.found.map {
      IndexPath(path: $0.path, isUnique: $0.field.isUnique, position: $0.field.position)
    }
    guard case .table(let table) = types[root] else { return found }
    return found + table.compoundIndexes.map(IndexPath.init)
  }

  /// Whether `root` has too many indexes.
  func hasTooManyIndexPaths(_ root: QualifiedName) -> Bool {
    var walk = FieldWalk(schema: self, \.isIndexed)
    walk.run(root)
    return walk.isExhausted
  }

  /// The paths of the fields of `root` that satisfy `isWanted`, in declaration order, depth first;
  /// at most `indexPathLimit`.
  func fieldPaths(
    of root: QualifiedName, _ isWanted: @escaping (FieldDefinition) -> Bool
  ) -> [(path: String, field: FieldDefinition)] {
    var walk = FieldWalk(schema: self, isWanted)
    walk.run(root)
    return walk.found
  }

  /// The name of the SQLite table that holds the objects of `root`: `blog__post_v1_0` for version
  /// 1.0 of `Blog.Post`.
  public func tableName(of root: QualifiedName) -> String {
    guard case .table(let table) = types[root] else { return root.tableName(version: nil) }
    return root.tableName(version: table.version)
  }
}

extension QualifiedName {
  /// The name of the SQLite table for the objects of the table with this name.
  func tableName(version: String?) -> String {
    let name = (namespace + [camel(name)]).map { $0.lowercased() }.joined(separator: "__")
    guard let version else { return name }
    return name + "_v" + String(version.map { $0 == "." ? "_" : $0 })
  }
}

/// A depth-first walk with limits on the size of its result and on its steps.
private struct FieldWalk {
  let schema: Schema
  private let isWanted: (FieldDefinition) -> Bool
  var found: [(path: String, field: FieldDefinition)] = []
  var isExhausted = false
  private var steps = 0
  private static let stepLimit = 1_000_000
  private var onPath: Set<QualifiedName> = []
  /// The types from which a wanted field can be reached. The walk enters only these.
  private let fruitful: Set<QualifiedName>

  init(schema: Schema, _ isWanted: @escaping (FieldDefinition) -> Bool) {
    self.schema = schema
    self.isWanted = isWanted
    fruitful = Self.fruitfulTypes(of: schema, isWanted)
  }

  mutating func run(_ root: QualifiedName) {
    guard case .table(let table) = schema.types[root] else { return }
    onPath = [root]
    walk(table.fields, prefix: "")
  }

  private mutating func walk(_ fields: [FieldDefinition], prefix: String) {
    for field in fields where !field.isDeprecated {
      steps += 1
      if steps > Self.stepLimit { isExhausted = true }
      guard !isExhausted else { return }
      let path = "\(prefix)f\(field.offset)"
      switch field.type {
      case .scalar, .enumeration, .string:
        note(field, path)
      case .table, .structure:
        enter(field.type, prefix: "\(path)__")
      case .union(let name):
        note(field, "\(path)__type")
        guard case .union(let union) = schema.types[name] else { continue }
        for member in union.members {
          enter(member.type, prefix: "\(path)__u\(member.tag)__")
        }
      case .vector, .array:
        break
      }
    }
  }

  private mutating func note(_ field: FieldDefinition, _ path: String) {
    guard isWanted(field) else { return }
    guard found.count < Schema.indexPathLimit else {
      isExhausted = true
      return
    }
    found.append((path, field))
  }

  private mutating func enter(_ type: FieldType, prefix: String) {
    switch type {
    case .table(let name):
      guard fruitful.contains(name), case .table(let table) = schema.types[name],
        onPath.insert(name).inserted
      else { return }
      walk(table.fields, prefix: prefix)
      onPath.remove(name)
    case .structure(let name):
      guard fruitful.contains(name), case .structure(let structure) = schema.types[name] else {
        return
      }
      walk(structure.fields, prefix: prefix)
    default:
      break
    }
  }

  /// All types that have a wanted field, and all types that refer to such a type, directly or
  /// indirectly.
  private static func fruitfulTypes(
    of schema: Schema, _ isWanted: (FieldDefinition) -> Bool
  ) -> Set<QualifiedName> {
    var users: [QualifiedName: [QualifiedName]] = [:]
    var pending: [QualifiedName] = []
    for (name, definition) in schema.types {
      let fields: [FieldDefinition]
      switch definition {
      case .table(let table): fields = table.fields
      case .structure(let structure): fields = structure.fields
      case .union(let union):
        for member in union.members {
          if let used = member.type.referenced { users[used, default: []].append(name) }
        }
        continue
      case .enumeration: continue
      }
      for field in fields where !field.isDeprecated {
        if isWanted(field) { pending.append(name) }
        if let used = field.type.referenced { users[used, default: []].append(name) }
      }
    }
    var result: Set<QualifiedName> = []
    while let name = pending.popLast() {
      if result.insert(name).inserted { pending += users[name] ?? [] }
    }
    return result
  }
}

extension FieldType {
  /// The type that a reference points to.
  fileprivate var referenced: QualifiedName? {
    switch self {
    case .table(let name), .structure(let name), .union(let name): name
    default: nil
    }
  }
}
