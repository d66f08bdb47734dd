// GeneratedMembers: the names inside generated types that do not come from the schema.
//
// Generated types declare members of their own and inherit others from Dflat's protocols. Inside
// such a type they are found before a type or namespace of the schema that has the same name, so
// the spelling of types depends on them (TypeNames.swift). A test compiles a schema whose types
// have all of these names and those of Dflat's protocols.

struct GeneratedMembers {
  /// Types, which hide others everywhere.
  var types: Set<String> = []
  /// Everything else, which hides types in expressions.
  var values: Set<String> = []

  /// Inside an entity.
  static let entity = table.and(
    types: ["ID", "_Draft"],
    values: [
      "_changesTimestamp", "_description", "_id", "_row", "_rowid", "_schema", "_text",
      "description", "draft", "fieldProblems", "from", "id", "search", "with",
    ])

  /// Inside a table that is a plain value.
  static let table = value.and(values: ["_encode"])

  /// Inside a fixed struct.
  static let structure = value.and(values: ["_conversionFailure", "_write"])

  /// Inside a union.
  static let union = value.and(values: ["_encode", "_tag"])

  /// Inside an enum.
  static let enumeration = GeneratedMembers(
    types: ["AllCases", "ArrayLiteralElement", "Element", "OtherKind", "RawValue", "TypeFamily"],
    values: ["_layout", "_value", "_valueType", "allCases", "encode", "hash", "hashValue"])

  /// Inside bit flags, which are a set.
  static let flags = enumeration.and(
    values: [
      "_fallback", "_reading", "contains", "formIntersection", "formSymmetricDifference",
      "formUnion", "insert", "intersection", "isDisjoint", "isEmpty", "isStrictSubset",
      "isStrictSuperset", "isSubset", "isSuperset", "rawValue", "remove", "subtract",
      "subtracting", "symmetricDifference", "union", "update",
    ])

  /// Inside the builder of an entity.
  static let builder = GeneratedMembers(values: ["_encode", "build"])

  /// Inside the change request of an entity.
  static let request = GeneratedMembers(
    types: ["Element"],
    values: [
      "_change", "_encode", "changeRequest", "creationRequest", "deletionRequest", "upsertRequest",
    ])

  /// Inside the extensions of `Reference`, `UnionReference` and `UnionCase`. Conditions ask for the
  /// values, so a field of such a name gets an underscore behind it there.
  static let reference = GeneratedMembers(
    types: ["Case", "OtherKind", "Root", "Stored", "Target"], values: ["isNotNull", "isNull"])

  private static let value = GeneratedMembers(
    values: [
      "_empty", "_layout", "_refusal", "encode", "flatBuffersSchemaVersion", "hash", "hashValue",
      "toData",
    ])

  private func and(types: Set<String> = [], values: Set<String> = []) -> GeneratedMembers {
    GeneratedMembers(types: self.types.union(types), values: self.values.union(values))
  }
}

extension TypeNames.Scope {
  var hiddenInExpressions: Set<String> {
    generated.types.union(generated.values).union(members)
  }
}
