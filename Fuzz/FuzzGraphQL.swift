// The fuzz target for GraphQLSchema: schemas, introspection and operations that libFuzzer makes,
// under AddressSanitizer.
//
// The first byte of an input chooses: operations for a fixed schema, or a schema in either form, or
// both, with a NUL between them. What must hold, besides that nothing crashes: there is a value or
// an error, and everything that is said can be printed.

import GraphQLSchema

private let schema = Schema.read([GraphQLSource(path: "schema", text: text)]).value!

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size > 0 else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: data + 1, count: size - 1))
  switch data[0] % 3 {
  case 0: check(Operations.read([GraphQLSource(path: "operations", bytes: bytes)], schema: schema))
  case 1: check(Schema.read([GraphQLSource(path: "schema", bytes: bytes)]))
  default:
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    let result = Schema.read([GraphQLSource(path: "schema", bytes: Array(parts[0]))])
    check(result)
    if let schema = result.value, parts.count > 1 {
      check(
        Operations.read(
          [GraphQLSource(path: "operations", bytes: Array(parts[1]))], schema: schema))
    }
  }
  return 0
}

private func check<Value>(_ result: GraphQLResult<Value>) {
  precondition((result.value == nil) == result.diagnostics.contains { $0.severity == .error })
  for diagnostic in result.diagnostics { precondition(!diagnostic.rendered().isEmpty) }
}

private let text = """
  type Query { dog: Dog  pet: Pet  any: Any  list(of: [[Int!]], find: Find!): Boolean }
  type Subscription { dog: Dog }
  interface Pet { name: String! }
  type Dog implements Pet { name: String!  barks(at: At = CAT): Boolean!  friends: [Pet!] }
  type Cat implements Pet { name: String!  lives: Int }
  union Any = Dog | Cat
  enum At { CAT MOON }
  input Find { name: String!  next: Find  limit: Int! = 3 }
  scalar JSON
  directive @mark(n: Int!) repeatable on FIELD | QUERY
  """
