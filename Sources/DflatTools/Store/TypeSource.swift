// TypeSource: where the names of a type come from, and its references with their rules.

import Dflat
import DflatSchema
import SQLiteDflat

/// Where the names of a type come from.
struct TypeSource {
  /// Fields with keys of another type.
  struct Reference {
    let offsets: [Int]
    /// The full name of that type, in lower case.
    let target: String
    let rule: Dflat.DeletionRule
  }

  let fullName: String
  let origin: StoredType.Origin
  private(set) var problem: String?
  private(set) var references: [Reference] = []
  private var compiled: CompiledTypes?
  private var root: QualifiedName?
  /// The bytes of the schema in the file.
  private var kept: [UInt8]?

  var name: String { fullName.split(separator: ".").last.map(String.init) ?? fullName }
  var isUsable: Bool { compiled != nil }

  init(_ given: GivenSchema) {
    fullName = given.root.description
    origin = .file(given.path)
    compiled = given.types
    root = given.root
    let table = given.definition
    func add(_ reference: ReferenceDefinition, _ fields: [FieldDefinition]) {
      references.append(
        Reference(
          offsets: fields.map(\.offset), target: reference.target.description.lowercased(),
          rule: Dflat.DeletionRule(schemaText: reference.rule.rawValue)))
    }
    for field in table.fields {
      if let reference = field.reference { add(reference, [field]) }
    }
    for compound in table.compoundReferences {
      add(compound.reference, table.fields(of: compound))
    }
  }

  init(_ kept: StoredTables.Kept, table: String) {
    origin = .kept(version: kept.version, date: kept.date)
    guard kept.isWhole else {
      // What is damaged may be another type's, by which sound objects would be damaged.
      fullName = table
      problem = "the schema in the file is damaged: it has another digest"
      return
    }
    let schema: BinarySchema
    do throws(BinarySchemaError) { schema = try BinarySchema(bytes: kept.bytes) } catch {
      fullName = table
      problem = "the schema in the file is damaged: \(error.reason)"
      return
    }
    fullName = schema.root
    let text = SchemaText.text(of: schema, including: nil)
    let result = SchemaCompiler().compile(source: Array(text.utf8), path: "\(table).fbs")
    guard let compiled = result.schema else {
      let first = result.diagnostics.first.map { ": \($0.message)" } ?? ""
      problem = "the schema in the file cannot be used\(first)"
      return
    }
    self.compiled = CompiledTypes(compiled)
    self.kept = kept.bytes
    if let root = schema.objects.first(where: { $0.name == schema.root }) {
      references = Self.references(of: root)
    }
  }

  /// The schema that knows most of a type, and of several such schemas the newest. The last one may
  /// be that of an older program, which does not know all fields.
  /// - Parameter kept: The schemas in the file, the newest first.
  /// - Returns: A damaged one if there is no other; nil if there is none.
  static func fullest(_ kept: [StoredTables.Kept]) -> StoredTables.Kept? {
    let whole = kept.filter(\.isWhole)
    if whole.count < 2 { return whole.first ?? kept.first }
    // A schema loses nothing when it changes: fields that are not used any more are deprecated.
    let sizes = whole.map { (try? BinarySchema(bytes: $0.bytes))?.size ?? 0 }
    return zip(whole, sizes).max { $0.1 < $1.1 }?.0
  }

  private static func references(of root: BinarySchema.Object) -> [Reference] {
    let single = root.fields.compactMap { field in
      field.attributes["references"].map {
        Reference(
          offsets: [field.offset], target: $0.lowercased(),
          rule: DeletionRule(schemaText: field.attributes["ondelete"]))
      }
    }
    // `name: site, number -> Author ondelete cascade`, between semicolons.
    let list = (root.attributes["references"] ?? "").split(separator: ";")
    let compound = list.compactMap { text -> Reference? in
      guard let parts = text.wholeMatch(of: /[^:]*:(.*)->\s*(\S+)(?:\s+ondelete\s+(\w+))?\s*/)
      else { return nil }
      let names = parts.1.split(separator: ",").map { $0.filter { $0 != " " } }
      let offsets = names.compactMap { name in root.fields.first { $0.name == name }?.offset }
      guard offsets.count == names.count else { return nil }
      return Reference(
        offsets: offsets, target: parts.2.lowercased(),
        rule: DeletionRule(schemaText: parts.3.map(String.init)))
    }
    return single + compound
  }

  /// - Parameters:
  ///   - known: The names of the types that references can lead to, in lower case.
  ///   - referrers: The names of the types that refer to this one with a rule.
  func entity(
    inTable table: String, known: Set<String>, referrers: Set<String>, _ registry: TypeRegistry
  ) -> EntitySchema? {
    let found = references.filter { known.contains($0.target) }
    let entity = compiled?.entity(
      of: root, inTable: table,
      references: found.map { reference in
        EntityReference(
          reference.offsets, to: { registry.entity(named: reference.target) },
          onDeletion: reference.rule)
      },
      referrers: referrers.sorted().map { name in { registry.entity(named: name) } })
    // A tool that writes objects leaves the file the schema that it has.
    if let kept { entity?.keepEncoded(kept) }
    return entity
  }
}

extension BinarySchema {
  /// The number of fields, and of the values of enums and unions.
  fileprivate var size: Int {
    objects.reduce(0) { $0 + $1.fields.count } + enums.reduce(0) { $0 + $1.values.count }
  }
}
