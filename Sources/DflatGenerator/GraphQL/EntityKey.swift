// EntityKey: the fields that identify the objects of a type.
//
// A key has one field or several, in order. A field may be one of an object inside, or the name of
// the object's own type, which keeps objects apart whose ids are not global.

import GraphQLSchema

struct EntityKey: Equatable {
  /// A field of the key.
  struct Part: Hashable {
    /// The way to the field: its name, behind those of the objects around it.
    let path: [String]

    /// As it is written: `sys.id`.
    var text: String { path.joined(separator: ".") }
    /// The stored field's name.
    var name: String { isTypeName ? "typename" : path.joined(separator: "_") }
    /// Whether it is the name of the object's type.
    var isTypeName: Bool { path == ["__typename"] }
    /// Whether it is a field of the object itself, and stored under its name.
    var isPlain: Bool { path.count == 1 && !isTypeName }
    /// What a selection of it looks like.
    var selection: String {
      path.joined(separator: " { ") + String(repeating: " }", count: path.count - 1)
    }

    /// The field, and whether it or an object around it may be null; nil if there is none. No step
    /// but the last may be a list.
    func resolve(
      in type: NamedType, _ schema: GraphQLSchema.Schema
    ) -> (field: OutputField, isNullable: Bool)? {
      var type = type
      var isNullable = false
      for (index, name) in path.enumerated() {
        guard let field = schema.field(named: name, in: type) else { return nil }
        isNullable = isNullable || !field.type.isNonNull
        if index == path.count - 1 { return (field, isNullable) }
        guard field.type.element == nil, let inner = schema.type(in: field.type), inner.isComposite
        else { return nil }
        type = inner
      }
      return nil
    }

    /// The scalar or enum that the field has in a type; nil if it has none, or something that is no
    /// key.
    func leaf(in type: NamedType, _ schema: GraphQLSchema.Schema) -> NamedType? {
      guard let field = resolve(in: type, schema)?.field, field.type.element == nil,
        let leaf = schema.type(in: field.type), !leaf.isComposite
      else { return nil }
      return leaf
    }
  }

  let parts: [Part]

  /// The key that a text such as `id`, `sku,region` or `sys.id` means; nil if it is not one.
  init?(_ text: String) {
    parts = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      Part(
        path: part.split(separator: ".", omittingEmptySubsequences: false)
          .map { $0.trimming(while: { $0 == " " }) })
    }
    guard parts.allSatisfy({ $0.path.allSatisfy { !$0.isEmpty } }), Set(parts).count == parts.count
    else { return nil }
  }

  /// The only field, if it is one of the object itself.
  var plainName: String? { parts.count == 1 && parts[0].isPlain ? parts[0].path[0] : nil }
  /// As it is written.
  var text: String { parts.map(\.text).joined(separator: ",") }

  /// Whether a field of the object itself is a part of the key.
  func has(_ field: String) -> Bool { parts.contains { $0.isPlain && $0.path[0] == field } }
}

extension Substring {
  /// Without some characters at both ends.
  fileprivate func trimming(while isLeft: (Character) -> Bool) -> String {
    var text = drop(while: isLeft)
    while let last = text.last, isLeft(last) { text.removeLast() }
    return String(text)
  }
}
