// ApolloPlace: a struct of Apollo's, for the objects at one place of the operations.

import GraphQLSchema

/// A struct of selected fields.
final class ApolloPlace {
  /// The type of which fields are selected.
  let type: NamedType
  /// The field that selects the objects; nil for a fragment or an operation.
  let selector: NameSyntax?
  /// What the struct's objects satisfy.
  let scope: ApolloScope
  /// The selection sets; fragments in them narrow, unless every object here satisfies them.
  let sources: [ApolloSource]
  /// Those of the selection sets, and of the fragments in them, whose narrowing fragments narrow
  /// this struct; others narrow a wider one.
  var inner: Set<ObjectIdentifier>
  /// The struct that this one is a narrower form of.
  let wider: ApolloPlace?
  // What was found out about the struct.

  /// What stands in the selection sets.
  var content: Content?
  /// The fields that are properties of the struct itself.
  var direct: [ApolloAccess]?
  /// The ways to all fields of objects of a type, by its name.
  var fields: [String: [ApolloAccess]] = [:]
  /// The same, by the names of the fields.
  var fieldsByName: [String: [String: [ApolloAccess]]] = [:]

  /// The struct's name with everything around it.
  var swift: String { scope.swift }
  /// The struct of which this one is a narrower form, or this one.
  var widest: ApolloPlace { wider?.widest ?? self }

  /// - Parameter inner: All of the selection sets if it is nil.
  init(
    type: NamedType, _ selector: NameSyntax?, scope: ApolloScope, sources: [ApolloSource],
    inner: [SelectionSetSyntax]? = nil, wider: ApolloPlace? = nil
  ) {
    self.type = type
    self.selector = selector
    self.scope = scope
    self.sources = sources
    self.inner = Set((inner ?? sources.map(\.selections)).map(ObjectIdentifier.init))
    self.wider = wider
  }

  /// The struct of an operation's or a fragment's selection set.
  convenience init(type: NamedType, swift: String, _ selections: SelectionSetSyntax) {
    let scope = ApolloScope(swift: swift, types: [type])
    self.init(
      type: type, nil, scope: scope,
      sources: [ApolloSource(selections: selections, scope: scope)])
  }
}

/// The struct to which a selection belongs, and what is true of the objects in it.
struct ApolloScope {
  /// The struct's name with everything around it.
  var swift: String
  /// The objects are of all these types; the last one is that of the struct.
  var types: [NamedType]
  /// The object types of a narrower classic struct.
  var objects: [NamedType]?
  /// The conditions of `@include` and `@skip` that are true, by their names in Apollo iOS 1.x.
  var conditions: Set<String> = []

  /// What is true of an object that satisfies more, in the same struct.
  func satisfying(_ conditions: some Sequence<String>, _ types: [NamedType]) -> ApolloScope {
    var scope = self
    scope.conditions.formUnion(conditions)
    scope.types += types
    return scope
  }

  /// Whether an object here may lack what is selected under conditions.
  func leavesOpen(_ conditions: [String]) -> Bool {
    !conditions.allSatisfy(self.conditions.contains)
  }
}

/// A selection set from which a struct has fields.
struct ApolloSource {
  let selections: SelectionSetSyntax
  /// The struct to which its fields belong: this one, or one from which this one has them, too.
  let scope: ApolloScope
  /// The selection set counts only where these conditions are true.
  var conditions: [String] = []
}

extension ApolloPlace {
  /// A field, as it is selected once.
  struct Selected {
    let field: FieldSyntax
    /// Those of the field itself.
    let conditions: [String]
    /// Whether a condition may leave it out.
    let isConditional: Bool
    /// The struct to which the selection belongs.
    let scope: ApolloScope
  }

  /// Everything that stands in a place without narrowing it.
  struct Content {
    var fields: [Selected] = []
    var fragments: [(fragment: FragmentSyntax, conditions: [String], isConditional: Bool)] = []
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
  /// Whether the property may be optional or not: some of the structs from which the field comes
  /// have it under a condition.
  var isUncertain = false
  /// The struct that has the field.
  var place: ApolloPlace
  /// What is true of the object if there is a value.
  var scope: ApolloScope
  /// The selections of the field under one response key.
  var fields: [FieldSyntax]

  var selector: NameSyntax { fields[0].alias ?? fields[0].name }
  var name: String { fields[0].name.text }
  var responseKey: String { fields[0].responseKey }

  /// The value of the property in an object.
  func value(in object: String, _ property: String) -> String {
    let text = "\(object)\(path).\(property)"
    // An optional chain gives the same for both.
    return isUncertain && !path.contains("?") ? "Optional(\(text)).flatMap { $0 }" : text
  }
}
