// What every schema has: the scalars, directives and introspection types of the specification.

import Diagnostics

enum Prelude {
  /// The definitions, in the schema language.
  static let definitions: [DefinitionSyntax] = {
    let file = SourceFile(path: "GraphQL specification", index: -1, bytes: Array(text.utf8))
    return Parser.parse(file, sink: DiagnosticSink()).definitions
  }()

  /// The type whose fields can be selected although no type declares them.
  static let metaFields = "__Meta"

  private static let text = """
    scalar String
    scalar Int
    scalar Float
    scalar Boolean
    scalar ID

    directive @include(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @skip(if: Boolean!) on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @deprecated(reason: String = "No longer supported") on
      FIELD_DEFINITION | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION | ENUM_VALUE
    directive @specifiedBy(url: String!) on SCALAR

    type __Meta {
      __typename: String!
      __schema: __Schema!
      __type(name: String!): __Type
    }

    type __Schema {
      description: String
      types: [__Type!]!
      queryType: __Type!
      mutationType: __Type
      subscriptionType: __Type
      directives: [__Directive!]!
    }

    type __Type {
      kind: __TypeKind!
      name: String
      description: String
      specifiedByURL: String
      fields(includeDeprecated: Boolean = false): [__Field!]
      interfaces: [__Type!]
      possibleTypes: [__Type!]
      enumValues(includeDeprecated: Boolean = false): [__EnumValue!]
      inputFields(includeDeprecated: Boolean = false): [__InputValue!]
      ofType: __Type
    }

    enum __TypeKind { SCALAR OBJECT INTERFACE UNION ENUM INPUT_OBJECT LIST NON_NULL }

    type __Field {
      name: String!
      description: String
      args(includeDeprecated: Boolean = false): [__InputValue!]!
      type: __Type!
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __InputValue {
      name: String!
      description: String
      type: __Type!
      defaultValue: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __EnumValue {
      name: String!
      description: String
      isDeprecated: Boolean!
      deprecationReason: String
    }

    type __Directive {
      name: String!
      description: String
      isRepeatable: Boolean!
      locations: [__DirectiveLocation!]!
      args(includeDeprecated: Boolean = false): [__InputValue!]!
    }

    enum __DirectiveLocation {
      \(DirectiveLocation.allCases.map(\.rawValue).joined(separator: " "))
    }
    """
}
