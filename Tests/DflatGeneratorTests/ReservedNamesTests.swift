// A schema may use any name, also those that generated code and Dflat's protocols use themselves.

import DflatGenerator
import Foundation
import Testing

@Suite("Names that generated code uses itself")
struct ReservedNamesTests {
  // MARK: All names at once

  /// The compiler's work grows faster than the number of names that hide others: there are several
  /// schemas with some of the names each, and one with all of them with `DFLAT_LONG=1`.
  /// - Parameter half: Half of the names, where two tests or cases ask almost the same; all of them
  ///   with `DFLAT_LONG=1`.
  private static func parts(of names: [String], half: Int? = nil) -> [[String]] {
    let some = names.indices.filter { isLongRun || half == nil || $0 % 2 == half }.map { names[$0] }
    let size = isLongRun ? names.count : 50
    return stride(from: 0, to: some.count, by: size).map {
      Array(some[$0..<min($0 + size, some.count)])
    }
  }

  @Test("are free for types, alone and in namespaces", arguments: ["", "namespace N;"])
  func types(namespace: String) throws {
    for names in try Self.parts(of: Self.names(), half: namespace.isEmpty ? 0 : 1) {
      try types(names, namespace)
    }
  }

  private func types(_ names: [String], _ namespace: String) throws {
    let tables = names.map { "table \($0) { x0: int; }" }.joined()
    let fields = names.enumerated().map { "f\($0): \($1); v\($0): [\($1)];" }.joined()
    let members = names.prefix(250).enumerated().map { "m\($0): \($1)" }.joined(separator: ",")
    try expectCompiles(
      """
      \(namespace) \(tables) union U0 { \(members) }
      table P0 { \(fields) u0: U0; }
      table T0 { k0: int (primary); \(fields) u0: U0; } root_type T0;
      """)
  }

  @Test("are free for enums and bit flags", arguments: ["byte", "uint (bit_flags)"])
  func enums(type: String) throws {
    for names in try Self.parts(of: Self.names(), half: type == "byte" ? 0 : 1) {
      try enums(names, type)
    }
  }

  private func enums(_ names: [String], _ type: String) throws {
    let enums = names.map { "enum \($0): \(type) { none, a }" }.joined()
    let fields = names.enumerated().map { "f\($0): \($1) = none; g\($0): \($1) = null;" }.joined()
    let inStruct = names.enumerated().map { "f\($0): \($1);" }.joined()
    try expectCompiles(
      """
      \(enums) struct S0 { \(inStruct) } table P0 { \(fields) }
      table T0 { k0: int (primary); \(fields) } root_type T0;
      """)
  }

  @Test("are free for namespaces")
  func namespaces() throws {
    for names in try Self.parts(of: Self.names(areTypes: false), half: 0) { try namespaces(names) }
  }

  private func namespaces(_ names: [String]) throws {
    let types = names.map { "namespace \($0); table X { x0: int; } enum E: byte { none, a }" }
      .joined()
    let fields = names.enumerated().map { "f\($0): \($1).X (required); e\($0): \($1).E = none;" }
      .joined()
    try expectCompiles(
      """
      \(types) namespace; table P0 { \(fields) }
      table T0 { k0: int (primary); \(fields) } root_type T0;
      """)
  }

  @Test("are free for fields, values and members")
  func fields() throws {
    let names = try Self.names()
    let fields = names.map { "\($0): int;" }.joined()
    var seen: Set<String> = []
    // The cases of enums begin with a small letter.
    let cases = names.filter { seen.insert($0.prefix(1).lowercased() + $0.dropFirst()).inserted }
    let members = cases.prefix(250).map { "\($0): X0" }.joined(separator: ",")
    try expectCompiles(
      """
      table X0 { x0: int; } union U0 { \(members) }
      enum E0: short { \(cases.joined(separator: ",")) }
      struct S0 { \(fields) } table P0 { \(fields) }
      table T0 { k0: int (primary); \(fields) e0: E0; s0: S0; p0: P0; u0: U0; } root_type T0;
      """)
  }

  /// The words of generated code, the members of Dflat's protocols, and Swift's keywords, as names
  /// of a schema that become these names in Swift.
  private static func names(areTypes: Bool = true) throws -> [String] {
    var found = Set(keywords)
    try withTemporaryDirectory { directory in
      try generate(Place.schemas.appending(path: "values.fbs"), into: directory)
      try generate(Place.schemas.appending(path: "everyday.fbs"), into: directory)
      for file in try FileManager.default.contentsOfDirectory(atPath: directory.path()) {
        found.formUnion(words(in: try text(of: directory.appending(path: file))))
      }
    }
    for file in protocols {
      let source = try text(of: Place.sources.appending(path: "Dflat/\(file).swift"))
      for match in source.matches(of: /(?:func|var|let|typealias|associatedtype) `?(\w+)/) {
        found.insert(String(match.1))
      }
    }
    // Types of schemas, and names that belong to this test.
    found.subtract([
      "bool", "byte", "ubyte", "short", "ushort", "int", "uint", "float", "long", "ulong", "double",
      "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
      "float64", "string", "null", "true", "false", "_", "N", "NONE",
    ])
    let names = found.filter { !($0.first?.isNumber ?? true) }.sorted()
    // An underscore in front is dropped, except in namespaces.
    return areTypes ? names.map { $0.hasPrefix("_") ? "_" + $0 : $0 } : names
  }

  private static func words(in text: String) -> [String] {
    text.split(separator: "\n").filter { !$0.contains("//") && !$0.contains("\"") }
      .flatMap { $0.matches(of: /\w+/).map { String($0.0) } }
  }

  /// The files with the members that generated types inherit.
  private static let protocols = [
    "Model/Atom", "Model/Atom+Description", "Model/EntityBuilder", "Model/FieldProblem",
    "Model/FlatBuffersCodable", "Model/FlatBuffersCodable+Defaults", "Model/OperandOfAnotherType",
    "Model/QueryValue", "Changes/Atom+Copying", "Model/ChangeRequest", "Query/Reference",
    "Query/Reference+Mismatch", "Query/Search/FullTextSearchable",
  ]

  private static let keywords = """
    Any AllCases ArrayLiteralElement Case Element ID OtherKind Protocol RawValue Self Stored Type \
    _Draft _ID _allCases _hashValue _id _layout _modify _owned _read _text actor any as async \
    await borrow borrowing break case catch class consume consuming contains continue convenience \
    copy default defer deinit didSet discard distributed do draft dynamic each else enum extension \
    fallthrough fileprivate final for func get guard hash hashValue if import in indirect init \
    inout insert internal is isNull isNotNull isolated lazy let macro mutate mutating none \
    nonisolated open operator optional package precedencegroup private protocol public reasync \
    repeat required rethrows return self sending set some static struct subscript super switch \
    then throw throws try typealias union unowned unsafe update values var weak where while \
    willSet with yield
    """.split(separator: " ").map(String.init)

  // MARK: One at a time

  @Test(
    "are free for entities",
    arguments: some(
      [
        "Element", "_6", "values", "stored", "self", "get", "set", "async", "borrowing",
        "consuming", "isolated", "borrow", "mutate", "each", "nonisolated", "willSet", "Type",
        "Protocol", "__Draft", "__const", "__modify", "__read", "yielding", "ID", "id", "build",
        "table", "RawValue", "Root", "Target",
      ], each: 4))
  func entities(name: String) throws {
    try expectCompiles(
      "table \(name) { k: int (primary); own: \(name); all: [\(name)]; } root_type \(name);")
  }

  @Test(
    "are worked around",
    arguments: some(
      [
        "struct self { x: int; } struct S { s: self; } table P { s: self; }",
        "namespace A.Type; table X { x: int; } namespace B.Protocol; table Y { x: A.Type.X; }",
        "table T { k: int (primary); __Draft: int; self: int; __self: int; } root_type T;",
        "table T { k: int (primary); id: int; __id: int; __ID: int; } root_type T;",
        "table T { k: int (primary); description: int; __text: int; } root_type T;",
        "table P { hashValue: int; __hashValue: int; self: int; __self: int; }",
        "enum E: byte { __layout, allCases, __allCases } table P { e: E; }",
        "enum bits: uint (bit_flags) { bits, a } table P { e: bits; }",
        "enum E: byte { __Family, TypeFamily } enum F: ubyte (bit_flags) { __Family } "
          + "table P { e: E; f: F; }",
        """
        table FlatBuffersUnion { x: int; } table P { x: int; } union U { FlatBuffersUnion, P }
        table T { k: int (primary); u: U; all: [U]; } root_type T;
        """,
        """
        table Post { id: int (primary); } root_type Post; namespace Post;
        table ID (swift_name: "Ident") { x: int; }
        """,
        "namespace PostBuilder; table X { x: int; } namespace; \(post)",
        "namespace Post; table PostBuilder { x: int; } namespace; \(post)",
        "namespace Post; table PostChangeRequest { x: int; } namespace; \(post)",
        """
        namespace A_B; enum C: byte { a } namespace A.B; enum C: byte { a }
        namespace Z.A_B; enum D: byte { a } namespace Z.A; enum D: byte { a }
        namespace Z; enum C: byte { a } struct S { x: A_B.C; y: A.B.C; }
        """,
      ], each: 3))
  func workedAround(schema: String) throws { try expectCompiles(schema) }

  private static let post = "table Post { k: int (primary); p: [Post]; } root_type Post;"

  @Test("a field isNull of a nested table is isNull_ in conditions, and isNull stays presence")
  func isNull() throws {
    try expectCompiles(
      """
      table U { isNull: bool; isNotNull: int; }
      table T { k: int (primary); u: U; all: [U]; isNull: bool; } root_type T;
      """,
      use: """
        import Dflat
        let conditions = [
          T.u.isNull, T.u.isNull_ == true, T.u.isNotNull_ > 3, T.u.isNull_.isNotNull, T.isNull == true,
          T.all.any { $0.isNull_ == false },
        ]
        let read: Bool? = T(k: 1).u?.isNull
        """)
  }

  @Test(
    "a primary key may be called ID, alone and with others",
    arguments: ["", "n: int (primary);", "id: int;", "n: int (primary); id: int;"])
  func keyCalledID(others: String) throws {
    try expectCompiles(
      "table Post { ID: string (primary); \(others) title: string; } root_type Post;")
  }

  @Test("in conditions, a name gets underscores until no other field or type has it")
  func underscores() throws {
    try expectCompiles(
      """
      namespace T; enum Protocol: int { a } namespace;
      table U { isNull: bool; isNull_: int; isNotNull: int; }
      table T {
        k: int (primary); Type: int; Type_: string; Type___: int; ID: int; ID_: string;
        Protocol: T.Protocol; u: U;
      }
      root_type T;
      """,
      use: """
        import Dflat
        let conditions = [
          T.Type___ == 1, T.Type_ == "", T.Type__ == 2, T.ID__ == 3, T.ID_ == "",
          T.Protocol__ == .a,
          T.u.isNull, T.u.isNull__ == true, T.u.isNull_ == 1, T.u.isNotNull_ == 1,
        ]
        """)
  }

  @Test("an inverse isNull is isNull_ behind another reference, and isNull stays presence")
  func inverseIsNull() throws {
    try expectCompiles(
      """
      table T { k: int (primary); t: int = null (references: "T", inverse: "isNull"); } root_type T;
      """,
      use: """
        import Dflat
        let conditions = [T.t.related.isNull, T.t.related.isNull_.count > 1, T.isNull.count > 1]
        let objects: RelatedObjects<T> = T(k: 1).isNull
        """)
  }

  @Test("calls for one directory tell of builders that have the name of a type, unless they know")
  func separateCalls() throws {
    try withTemporaryDirectory { directory in
      let files = try [
        ("post.fbs", "namespace A; \(Self.post)"),
        ("other.fbs", "namespace A; table PostBuilder { x: int; }"),
      ].map { name, text in
        let url = directory.appending(path: name)
        try text.write(to: url, atomically: false, encoding: .utf8)
        return url.path()
      }
      func run(_ arguments: String...) -> String {
        var errors = ""
        let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
        #expect(command.run(["-o", directory.appending(path: "out").path()] + arguments) == 0)
        return errors
      }
      func warning(_ line: String, _ name: String, _ other: String) -> String {
        """
        warning: 'A.PostBuilder' is generated here and, by another call into the same directory, from \(other)
            1 | \(line)
              |                    ^\(String(repeating: "~", count: name.count - 1))
        note: compile both schemas in one call, or name the other schema in each call with '--beside \(other)': \
        builders and change requests then get other names

        """
      }
      #expect(run(files[0]) == "")
      #expect(
        run(files[1])
          == "\(files[1]):1:20: "
          + warning("namespace A; table PostBuilder { x: int; }", "PostBuilder", "post.fbs"))
      #expect(
        run(files[0])
          == "\(files[0]):1:20: " + warning("namespace A; \(Self.post)", "Post", "other.fbs"))
      #expect(run(files[0], "--beside", files[1]) == "")
      #expect(run(files[1]) == "")
    }
  }

  @Test("builders step aside for types of other schemas and of Swift files of the module")
  func companionsOfOtherFiles() throws {
    try withTemporaryDirectory { directory in
      func write(_ text: String, to name: String) throws -> String {
        let url = directory.appending(path: name)
        try text.write(to: url, atomically: false, encoding: .utf8)
        return url.path()
      }
      let schemas = [
        try write("namespace A; \(Self.post)", to: "post.fbs"),
        try write("namespace A; table PostBuilder { x: int; }", to: "other.fbs"),
      ]
      let swift = try write(
        "import Dflat\nextension A { struct PostChangeRequest {} }\nstruct PostBuilder_ {}\n"
          + "func request() -> A.PostChangeRequest_ { .creationRequest() }\n"
          + "let builder = A.PostBuilder_(from: A.Post(k: 1))\n", to: "Own.swift")
      let options = ["--declare-namespaces", "--swift", swift, "-o", directory.path()]
      var errors = ""
      let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
      #expect(command.run(["compile"] + options + schemas) == 0, "\(errors)")
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }

  private func expectCompiles(_ schema: String, use: String? = nil) throws {
    try withTemporaryDirectory { directory in
      let file = directory.appending(path: "schema.fbs")
      try schema.write(to: file, atomically: false, encoding: .utf8)
      try generate(file, into: directory)
      try use?.write(
        to: directory.appending(path: "use.swift"), atomically: false, encoding: .utf8)
      #expect(try Judge.complaints(about: directory, .swift6) == "")
    }
  }
}
