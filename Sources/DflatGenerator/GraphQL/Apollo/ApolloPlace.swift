// ApolloPlace: a struct of Apollo's, for the objects at one place of the operations.

import GraphQLSchema

/// A struct of selected fields.
final class ApolloPlace {
  /// The type of which fields are selected.
  let type: NamedType
  /// The struct's name with everything around it.
  let swift: String
  /// The selection sets; fragments in them narrow, unless every object of `type` satisfies them.
  let selections: [SelectionSetSyntax]
  /// Those of the selection sets, and of the fragments in them, whose narrowing fragments narrow
  /// this struct; others narrow a wider one.
  var inner: Set<ObjectIdentifier>
  /// The struct that this one is a narrower form of.
  let wider: ApolloPlace?
  /// What stands in the selection sets, once it is known.
  var content: Content?

  /// - Parameter inner: All of the selection sets if it is nil.
  init(
    type: NamedType, swift: String, selections: [SelectionSetSyntax],
    inner: [SelectionSetSyntax]? = nil, wider: ApolloPlace? = nil
  ) {
    self.type = type
    self.swift = swift
    self.selections = selections
    self.inner = Set((inner ?? selections).map(ObjectIdentifier.init))
    self.wider = wider
  }
}

extension ApolloPlace {
  /// Everything that stands in a place without narrowing it.
  struct Content {
    /// Fields, each with whether a condition may leave it out.
    var fields: [(field: FieldSyntax, isConditional: Bool)] = []
    var fragments: [(fragment: FragmentSyntax, isConditional: Bool)] = []
    /// Narrower places with the properties that lead to them.
    var narrower: [(property: String, place: ApolloPlace)] = []
    /// Narrowing named fragments of classic clients.
    var narrowing: [FragmentSyntax] = []
  }
}

/// How a field is reached from an object.
struct ApolloAccess {
  /// The properties from the object to the struct that has the field, each with a dot before it.
  var path: String
  /// Whether there may be no value even if the field's type excludes null.
  var isOptional: Bool
  /// The struct that has the field.
  var place: ApolloPlace
  /// The selections of the field under one response key.
  var fields: [FieldSyntax]

  var name: String { fields[0].name.text }
  var responseKey: String { fields[0].responseKey }
}
