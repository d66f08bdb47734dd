// The schema of a type from its layout, which knows everything that is needed to read rows.
//
//  - Layouts have no namespaces. That of the type is found in the name of its table, and all types
//    are put into it; types of one name get a number.
//  - Layouts lack deprecated fields. Their slots get a deprecated field of the smallest type.

extension BinarySchema {
  /// The schema of a type and of all types that it contains.
  package init(_ schema: EntitySchema) {
    var collector = LayoutCollector(namespace: schema.namespace)
    let root = collector.table(schema.layout)
    self.init(root: root, objects: collector.objects, enums: collector.enums)
    let places = FieldPlaces(root: schema.layout, names: collector.names)
    addStorageAttributes(of: schema, places)
    for object in objects.indices {
      objects[object].attributes.sort { Self.precedes($0.name, $1.name) }
      for field in objects[object].fields.indices {
        objects[object].fields[field].attributes.sort { Self.precedes($0.name, $1.name) }
      }
    }
  }

  /// Adds the attributes that say how objects are found.
  private mutating func addStorageAttributes(of schema: EntitySchema, _ places: FieldPlaces) {
    for key in schema.primaryKey { addPrimary(at: places.place(of: key.path)) }
    var compound: [String] = []
    for index in schema.indexes {
      let columns = index.columns.map { (places.place(of: $0.indexed.path), $0.isFolded) }
      if index.isCompound {
        let list = columns.map { ($0?.path ?? "") + ($1 ? " nocase" : "") }
        compound.append(list.joined(separator: ", ") + (index.isUnique ? " unique" : ""))
      } else {
        add(Attribute(index.isUnique ? "unique" : "indexed"), at: columns[0].0)
      }
    }
    if !compound.isEmpty {
      add(Attribute("index", compound.joined(separator: "; ")), toObject: root)
    }
    if let fullText = schema.fullText {
      for (column, tokenizer) in zip(fullText.columns, fullText.tokenizers) {
        let place = places.place(of: column.indexed.path)
        add(Attribute("fulltext", tokenizer.schemaText), at: place)
      }
    }
    var references: [String] = []
    for reference in schema.references {
      let target = reference.target
      let name = (target.namespace + [target.layout.name]).joined(separator: ".")
      let fields = reference.offsets.compactMap { places.place(of: "f\($0)") }
      if fields.count == 1 {
        add(Attribute("references", name), at: fields[0])
        if let rule = reference.rule.schemaText { add(Attribute("ondelete", rule), at: fields[0]) }
      } else {
        let list = fields.map(\.path)
        references.append(
          "\(list.joined(separator: "_and_")): \(list.joined(separator: ", ")) -> \(name)"
            + (reference.rule.schemaText.map { " ondelete \($0)" } ?? ""))
      }
    }
    if !references.isEmpty {
      add(Attribute("references", references.joined(separator: "; ")), toObject: root)
    }
  }

  /// Adds an attribute to a field, which may be reached in several ways.
  private mutating func add(_ attribute: Attribute, at place: FieldPlaces.Place?) {
    withAttributes(at: place) { if !$0.contains(attribute) { $0.append(attribute) } }
  }

  /// A text of the key is "" if it is absent, without saying so.
  private mutating func addPrimary(at place: FieldPlaces.Place?) {
    withAttributes(at: place) {
      $0.removeAll { $0 == Attribute("default") }
      $0.append(Attribute("primary"))
    }
  }

  private mutating func withAttributes(
    at place: FieldPlaces.Place?, _ body: (inout [Attribute]) -> Void
  ) {
    guard let place, let object = objects.firstIndex(where: { $0.name == place.owner }),
      let field = objects[object].fields.firstIndex(where: { $0.name == place.field })
    else { return }
    body(&objects[object].fields[field].attributes)
  }

  private mutating func add(_ attribute: Attribute, toObject name: String) {
    guard let object = objects.firstIndex(where: { $0.name == name }) else { return }
    objects[object].attributes.append(attribute)
  }
}

extension EntitySchema {
  /// The namespace of the type, in lower case, if its table is named like types of schemas are;
  /// otherwise empty.
  var namespace: [String] {
    // `blog__post_v1_0` is version 1.0 of `post` in `blog`.
    let version = layout.version.map { "_v" + $0.replacing(".", with: "_") } ?? ""
    let name = Self.tableName(ofType: layout.name) + version
    guard table.hasSuffix("__" + name) else { return [] }
    let parts = Self.parts(of: String(table.dropLast(name.count + 2))).map(String.init)
    return parts.allSatisfy { !$0.isEmpty } ? parts : []
  }

  /// How the table of a type without namespace and version is called: an underscore is left out,
  /// except at the end.
  private static func tableName(ofType name: String) -> String {
    var result = ""
    var skips = false
    for (place, character) in name.enumerated() {
      skips = character == "_" && !skips && place < name.count - 1
      if !skips { result.append(character) }
    }
    return result.lowercased()
  }
}

extension SearchTokenizer {
  /// How it is named in schemas.
  fileprivate var schemaText: String { self == .porterCJK ? "porter cjk" : rawValue }
}

extension DeletionRule {
  /// How it is named in schemas; nil if it need not be named.
  fileprivate var schemaText: String? {
    switch self {
    case .nothing: nil
    case .deny: "deny"
    case .nullify: "nullify"
    case .cascade: "cascade"
    }
  }

  /// The rule with a name of schemas; "nothing" if it is not named.
  package init(schemaText text: String?) {
    self =
      [DeletionRule.deny, .nullify, .cascade].first { $0.schemaText == text }
      ?? .nothing
  }
}

/// Finds fields by their storage names.
private struct FieldPlaces {
  struct Place {
    /// The full name of the object that has the field.
    var owner: String
    var field: String
    /// The names on the way, with dots.
    var path: String
  }

  let root: TableLayout
  /// The full names of layouts.
  let names: [ObjectIdentifier: String]

  /// nil for a member of a union that is a string, which has no field of its own.
  func place(of name: String) -> Place? {
    var owner = names[ObjectIdentifier(root)] ?? ""
    var properties = root.properties
    var path = ""
    var parts = EntitySchema.parts(of: name)[...]
    while let part = parts.popFirst() {
      guard let offset = Int(part.dropFirst()),
        let property = properties.first(where: { $0.offset == offset })
      else { return nil }
      path += (path.isEmpty ? "" : ".") + property.name
      var kind = property.kind
      if case .union(let union) = kind, let next = parts.first, next != "type" {
        parts.removeFirst()
        guard let tag = UInt8(next.dropFirst()), let member = union().member(tag) else {
          return nil
        }
        kind = member.kind
      } else if parts.isEmpty || parts.first == "type" {
        return Place(owner: owner, field: property.name, path: path)
      }
      switch kind {
      case .table(let layout):
        owner = names[ObjectIdentifier(layout())] ?? ""
        properties = layout().properties
      case .structure(let layout):
        owner = names[ObjectIdentifier(layout())] ?? ""
        properties = layout().properties
      default: return nil
      }
    }
    return nil
  }
}
