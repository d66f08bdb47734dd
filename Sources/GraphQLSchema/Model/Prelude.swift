// What every schema has: the scalars, directives and introspection types of the specification, and
// directives that clients or servers have agreed on beside it. A schema that declares one of them
// means its own.

import Diagnostics

enum Prelude {
  /// The definitions, in the schema language.
  static let definitions: [DefinitionSyntax] = {
    let file = SourceFile(path: "GraphQL specification", index: -1, bytes: Array(text.utf8))
    return Parser.parse(file, sink: DiagnosticSink()).definitions
  }()

  /// The directives that a server does not read: they tell a client how to keep what it gets.
  static let clientDirectives: Set<String> = [
    "connection", "nonreactive", "unmask", "import",
    "apollo_client_ios_localCacheMutation",
  ]

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
    directive @oneOf on INPUT_OBJECT

    directive @defer(if: Boolean! = true, label: String) on FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @stream(if: Boolean! = true, label: String, initialCount: Int! = 0) on FIELD
    directive @semanticNonNull(levels: [Int!]! = [0]) on FIELD_DEFINITION
    directive @semanticNonNullField(name: String!, levels: [Int!]! = [0])
      repeatable on OBJECT | INTERFACE

    directive @connection(key: String!, filter: [String!]) on FIELD
    directive @nonreactive on FIELD | FRAGMENT_SPREAD | INLINE_FRAGMENT
    directive @unmask(mode: String) on FRAGMENT_SPREAD
    directive @import(module: String!) repeatable on QUERY | MUTATION | SUBSCRIPTION | FRAGMENT_DEFINITION
    directive @apollo_client_ios_localCacheMutation on
      QUERY | MUTATION | SUBSCRIPTION | FRAGMENT_DEFINITION
    directive @typePolicy(keyFields: String!, connectionFields: String) on OBJECT | INTERFACE
    directive @fieldPolicy(forField: String!, keyArgs: String, paginationArgs: String)
      repeatable on OBJECT | INTERFACE

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
      isOneOf: Boolean
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
