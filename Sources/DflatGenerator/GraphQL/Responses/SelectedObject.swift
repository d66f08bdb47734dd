// What an operation selects, with all fragments merged: the shape of the response.

import GraphQLSchema

/// The selections of one object in the response. They hold for every object type in `possible`.
final class SelectedObject {
  /// The type that the schema gives it.
  let type: NamedType
  /// The object types that it can be of, in schema order.
  let possible: [String]
  /// The field that it is the value of; nil for the root.
  let origin: FieldSyntax?
  /// The fields, in the order of the document.
  var fields: [SelectedField] = []
  /// What is selected of some object types only, from many types to few. For each object type with
  /// such fields, the last view with that type has all of them.
  var views: [SelectedView] = []
  /// The fragments that are spread in it, each once for the object types that it selects of.
  var spreads: [FragmentSpread] = []
  /// The fragment that is all that is selected of it, if it selects of the same type.
  var onlyFragment: String?
  /// Whether it is what a fragment selects, with a structure of its own.
  var isFragment = false
  /// The name of the Swift type, with all types around it, once it is known.
  var path = ""

  init(type: NamedType, possible: [String], origin: FieldSyntax?) {
    self.type = type
    self.possible = possible
    self.origin = origin
  }

  /// The view that has all that is selected of an object type alone.
  func view(of type: String) -> SelectedView? { views.last { $0.types.contains(type) } }

  /// All objects directly inside whose structures are inside of its own, also those of the views.
  var children: [SelectedObject] {
    fields.compactMap(\.inner) + views.map(\.object)
  }
}

/// One key of an object.
struct SelectedField {
  /// The key in the response.
  let key: String
  /// The field of the schema.
  let definition: OutputField
  /// The first place in the document; nil for a `__typename` that is added.
  let syntax: FieldSyntax?
  /// Whether `@include` and `@skip` may leave it out.
  let isConditional: Bool
  /// Whether it comes later than the object, with a deferred fragment.
  var isDeferred = false
  /// Whether it is a key that the operation does not select. It is optional then, so that programs
  /// can make the object without it, and decode responses to an older document.
  var isAdded = false
  /// Whether it is a key that is sent although conditions of the operation may leave it out.
  var isAlwaysSent = false
  /// What is selected of the value; nil for leaves.
  var object: SelectedObject?
  /// The same if its structure is inside of that of the field's object.
  var inner: SelectedObject? { object?.isFragment == true ? nil : object }
  /// The name of the property.
  var property = ""
  /// The name of the stored property: another one if null and nothing have to be told apart.
  var stored: String { isIncludedOrNull ? property + "IfIncluded" : property }

  /// The name of the stored property that has the value in a box; nil if it is stored as it is.
  var box: String?
  /// Whether the value is one object. Null and nothing are told apart by an enum that has a box.
  var isBoxed: Bool {
    object != nil && !isIncludedOrNull && definition.type.nullable.element == nil
  }

  /// Whether the property is nil both for null and if the field is left out.
  var isIncludedOrNull: Bool { isConditional && !definition.type.isNonNull }
  /// Whether the property is optional.
  var isOptional: Bool { isConditional || isAdded || !definition.type.isNonNull }
  /// Whether the key is the field's own name.
  var isUnaliased: Bool { key == definition.name }
}

/// A fragment that is spread in an object.
struct FragmentSpread: Hashable {
  /// The name of the fragment.
  let name: String
  /// The object types of which it selects; nil for all.
  let types: Set<String>?
}

/// What is selected of some object types only.
struct SelectedView {
  /// The object types.
  let types: Set<String>
  /// The type condition, or the object type.
  let name: String
  /// The fields that are not selected of all types, or of whose values more is selected.
  let object: SelectedObject
  /// The name of the property.
  var property = ""
  /// The name of the stored property that has the value in a box.
  var box = ""
}
