// Schema models made by hand, for tests that concern the generator alone.

import DflatSchema

/// Builds one file's schema; vtable offsets, struct offsets and sizes follow from the order of fields.
struct ModelBuilder {
  var schema: Schema
  let namespace: [String]
  private let position = SourcePosition(file: "model.fbs", line: 1, column: 1)

  init(_ path: String, namespace: [String] = []) {
    schema = Schema(files: [SchemaFile(path: path)])
    self.namespace = namespace
  }

  func name(_ name: String) -> QualifiedName { QualifiedName(namespace: namespace, name: name) }

  func field(
    _ name: String, _ type: FieldType, _ value: DefaultValue? = nil,
    _ change: (inout FieldDefinition) -> Void = { _ in }
  ) -> FieldDefinition {
    var field = FieldDefinition(
      name: name, type: type, defaultValue: value, offset: 0, position: position)
    change(&field)
    return field
  }

  private mutating func declare(_ name: QualifiedName, _ definition: TypeDefinition) {
    schema.types[name] = definition
    schema.files[0].types.append(name)
  }

  mutating func enumeration(
    _ name: String, _ underlying: ScalarType, flags: Bool = false, _ values: [(String, Int64)]
  ) {
    declare(
      self.name(name),
      .enumeration(
        EnumDefinition(
          name: self.name(name), underlying: underlying, isBitFlags: flags,
          values: values.map { .init(name: $0.0, value: $0.1, position: position) },
          position: position)))
  }

  mutating func structure(_ name: String, _ fields: [(String, ScalarType)]) {
    var definition = StructDefinition(name: self.name(name), position: position)
    for (name, type) in fields {
      definition.size = (definition.size + type.size - 1) / type.size * type.size
      definition.fields.append(
        FieldDefinition(
          name: name, type: .scalar(type), offset: definition.size, position: position))
      definition.size += type.size
      definition.alignment = max(definition.alignment, type.size)
    }
    definition.size =
      (definition.size + definition.alignment - 1) / definition.alignment * definition.alignment
    declare(definition.name, .structure(definition))
  }

  mutating func table(
    _ name: String, version: String? = nil, root: Bool = false, _ fields: [FieldDefinition]
  ) {
    var definition = TableDefinition(name: self.name(name), version: version, position: position)
    for var field in fields {
      switch field.type {
      case .union, .vector(.union): definition.slotCount += 1
      default: break
      }
      field.offset = 4 + 2 * definition.slotCount
      definition.slotCount += 1
      definition.fields.append(field)
    }
    declare(definition.name, .table(definition))
    if root { schema.files[0].root = definition.name }
  }

  mutating func union(_ name: String, _ members: [(String, FieldType)]) {
    declare(
      self.name(name),
      .union(
        UnionDefinition(
          name: self.name(name),
          members: members.enumerated().map {
            .init(name: $1.0, type: $1.1, tag: $0 + 1, position: position)
          },
          position: position)))
  }

  func table(_ name: String) -> FieldType { .table(self.name(name)) }
  func structure(_ name: String) -> FieldType { .structure(self.name(name)) }
  func enumeration(_ name: String) -> FieldType { .enumeration(self.name(name)) }
  func union(_ name: String) -> FieldType { .union(self.name(name)) }
}

extension Schema {
  /// The contract's blog.
  static var blog: Schema {
    var model = ModelBuilder("schemas/blog.fbs", namespace: ["Blog"])
    model.enumeration("Status", .byte, [("Draft", 0), ("Published", 1), ("Archived", 2)])
    model.structure("Place", [("lat", .double), ("lon", .double)])
    model.table("Author", [model.field("handle", .string), model.field("name", .string)])
    model.table("Link", [model.field("url", .string) { $0.isIndexed = true }])
    model.table(
      "Photo",
      [
        model.field("path", .string) {
          $0.isIndexed = true
          $0.isUnique = true
        },
        model.field("width", .scalar(.int), .integer(0)),
      ])
    model.union("Attachment", [("Link", model.table("Link")), ("Photo", model.table("Photo"))])
    model.table(
      "Post", version: "1.0", root: true,
      [
        model.field("site", .string) { $0.isPrimary = true },
        model.field("number", .scalar(.int), .integer(0)) { $0.isPrimary = true },
        model.field("status", model.enumeration("Status"), .integer(1)),
        model.field("likes", .scalar(.int), .integer(0)) { $0.isIndexed = true },
        model.field("place", model.structure("Place")),
        model.field("author", model.table("Author")),
        model.field("tags", .vector(.string)),
        model.field("attachment", model.union("Attachment")) { $0.isIndexed = true },
        model.field("old_rank", .scalar(.short), .integer(0)) { $0.isDeprecated = true },
        model.field("is_pinned", .scalar(.bool), .bool(false)),
      ])
    return model.schema
  }

  /// The object of the benchmarks.
  static var benchDoc: Schema {
    var model = ModelBuilder("benchdoc.fbs")
    model.enumeration("Color", .byte, [("Red", 0), ("Green", 1), ("Blue", 2)])
    model.structure("Vec3", [("x", .float), ("y", .float), ("z", .float)])
    model.table("TextContent", [model.field("text", .string)])
    model.table("ImageContent", [model.field("images", .vector(.string))])
    model.union(
      "Content",
      [("TextContent", model.table("TextContent")), ("ImageContent", model.table("ImageContent"))])
    model.table(
      "BenchDoc", root: true,
      [
        model.field("pos", model.structure("Vec3")),
        model.field("color", model.enumeration("Color"), .integer(0)),
        model.field("title", .string) { $0.isPrimary = true },
        model.field("content", model.union("Content")),
        model.field("tag", .string),
        model.field("priority", .scalar(.int), .integer(0)),
      ])
    return model.schema
  }
}
