// Schemas of one module, and of several: what is refused, imported and declared.

import DflatSchema
import Foundation
import Testing

@testable import DflatGenerator

@Suite("Schemas of several modules")
struct ModuleTests {
  /// Runs a command line and collects its errors.
  private func run(_ arguments: String...) -> (status: Int32, errors: String) {
    var errors = ""
    let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
    return (command.run(arguments), errors)
  }

  private func write(_ text: String, to url: URL) throws -> String {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
    return url.path()
  }

  private let place = "namespace Map;\nstruct Place { x: int; }\nenum Side: byte { Left, Right }\n"
  private let visit = """
    include "place.fbs";
    namespace Map;
    table Visit { id: int (primary); place: Place; side: Side; all: [Place]; }
    root_type Visit;

    """

  @Test("types of another module are imported and qualified with it")
  func imports() throws {
    try withTemporaryDirectory { directory in
      _ = try write(place, to: directory.appending(path: "Shared/Inner/place.fbs"))
      let input = try write(visit, to: directory.appending(path: "App/visit.fbs"))
      let output = directory.appending(path: "out")
      let (status, errors) = run(
        "compile", "--declare-namespaces", "-o", output.path(), "--beside", input,
        "--module", "Shared=\(directory.appending(path: "Shared").path())", input)
      #expect(status == 0 && errors.isEmpty, "\(errors)")
      let model = try text(of: output.appending(path: "visit_data_model_generated.swift"))
      #expect(model.contains("\npublic import Shared\n"))
      #expect(model.contains("public var place: Shared::Map.Place?"))
      #expect(model.contains("{ Shared::Map.Side._layout }"))
      // The namespace is the other module's.
      #expect(try !text(of: output.appending(path: "visit_generated.swift")).contains("enum Map"))
      let query = try text(of: output.appending(path: "visit_query_generated.swift"))
      #expect(query.contains("Reference<Shared::Map.Place, Map.Visit>"))
    }
  }

  @Test("a type whose namespace is declared by a third module is qualified with that module")
  func namespacesOfOthers() throws {
    try withTemporaryDirectory { directory in
      _ = try write(
        "namespace Map; table Owner { x: int; }", to: directory.appending(path: "Base/owner.fbs"))
      _ = try write(place, to: directory.appending(path: "Shared/place.fbs"))
      let input = try write(visit, to: directory.appending(path: "App/visit.fbs"))
      let output = directory.appending(path: "out")
      let (status, errors) = run(
        "-o", output.path(), "--module", "Base=\(directory.appending(path: "Base").path())",
        "--module", "Shared=\(directory.appending(path: "Shared").path())", input)
      #expect(status == 0 && errors.isEmpty, "\(errors)")
      let model = try text(of: output.appending(path: "visit_data_model_generated.swift"))
      #expect(model.contains("\npublic import Base\npublic import Shared\n"))
      #expect(model.contains("public var place: Base::Map.Place?"))
    }
  }

  @Test("the configuration names modules, too")
  func configuration() throws {
    try withTemporaryDirectory { directory in
      _ = try write(place, to: directory.appending(path: "Schemas/place.fbs"))
      let input = try write(visit, to: directory.appending(path: "App/visit.fbs"))
      let configuration = try write(
        #"{"modules": {"../Schemas": "Shared"}, "declareNamespaces": false}"#,
        to: directory.appending(path: "App/dflat.json"))
      let output = directory.appending(path: "out")
      #expect(run("--config", configuration, "-o", output.path(), input) == (0, ""))
      #expect(
        try text(of: output.appending(path: "visit_data_model_generated.swift"))
          .contains("import Shared"))
      _ = try write(#"{"modules": {"nowhere": "Shared"}}"#, to: URL(filePath: configuration))
      let (status, errors) = run("--config", configuration, "-o", output.path(), input)
      #expect(status == 1)
      #expect(errors.contains("the module directory \"nowhere\" does not exist"), "\(errors)")
      _ = try write(#"{"modules": {"../Schemas": "My module"}}"#, to: URL(filePath: configuration))
      let named = run("--config", configuration, "-o", output.path(), input)
      #expect(
        named.status == 1 && named.errors.contains("\"modules\" cannot be \"My module\""),
        "\(named.errors)")
    }
  }

  @Test("a type that is generated nowhere is refused where it is used")
  func strays() throws {
    try withTemporaryDirectory { directory in
      let other = try write(place, to: directory.appending(path: "Schemas/place.fbs"))
      let input = try write(visit, to: directory.appending(path: "App/visit.fbs"))
      let output = directory.appending(path: "out").path()
      let include = directory.appending(path: "Schemas").path()
      let (status, errors) = run("-I", include, "--beside", input, "-o", output, input)
      #expect(status == 1)
      #expect(
        errors.contains("App/visit.fbs:3:34: error: 'Map.Place' is declared in ")
          && errors.contains("Schemas/place.fbs, which is compiled neither in this module nor"),
        "\(errors)")
      #expect(errors.contains(#"{"modules": {"directory": "Module"}}"#), "\(errors)")
      #expect(!FileManager.default.fileExists(atPath: output))
      // It is part of the module, or the module's schemas are not known.
      #expect(
        run("-I", include, "--beside", input, "--beside", other, "-o", output, input).status == 0)
      #expect(run("-I", include, "-o", output, input).status == 0)
      // An included but unused type need not be generated anywhere.
      let user = try write(
        "include \"place.fbs\";\nenum Own: byte { A }\n",
        to: directory.appending(path: "App/user.fbs"))
      #expect(run("-I", include, "--beside", input, "-o", output, user) == (0, ""))
    }
  }

  @Test("for a type in a schema that is not included, the error says what to write")
  func notIncluded() throws {
    try withTemporaryDirectory { directory in
      let tag = try write(
        "namespace Map; table Tag { x: int; }", to: directory.appending(path: "App/tag.fbs"))
      let side = try write(place, to: directory.appending(path: "Shared/Inner/place.fbs"))
      let input = try write(
        """
        namespace Map;
        table Visit { id: int (primary); tag: Tag; place: Place; }
        namespace Other;
        table Note { tag: Tag; }
        root_type Map.Visit;
        """, to: directory.appending(path: "App/visit.fbs"))
      let output = directory.appending(path: "out").path()
      let module = "Shared=\(directory.appending(path: "Shared").path())"
      func expect(_ errors: String) {
        #expect(errors.contains("visit.fbs:2:39: error: unknown type 'Tag'"), "\(errors)")
        #expect(
          errors.contains(
            "note: it is declared in \(tag): write 'include \"tag.fbs\";' at the top"),
          "\(errors)")
        #expect(errors.contains("note: 'Map.Tag' is declared in"), "\(errors)")
        #expect(errors.contains("\"tag.fbs\";' at the top, and its name in full"), "\(errors)")
      }
      let (status, errors) = run("-o", output, "--beside", tag, "--module", module, input)
      #expect(status == 1)
      expect(errors)
      #expect(
        errors.contains("it is declared in \(side): write 'include \"place.fbs\";'"), "\(errors)")
      expect(run("-o", output, tag, input).errors)
    }
  }

  @Test("two schemas of a module cannot declare the same type", arguments: ["compile", "module"])
  func repetitions(command: String) throws {
    try withTemporaryDirectory { directory in
      let first = try write(
        "namespace A; table tag_name { x: int; }", to: directory.appending(path: "one.fbs"))
      let second = try write(
        "namespace A;\nenum tagName: byte { B }", to: directory.appending(path: "two.fbs"))
      let third = try write(
        "namespace C;\nenum tagName: byte { B }", to: directory.appending(path: "three.fbs"))
      let output = directory.appending(path: "out").path()
      let (status, errors) = run(command, "-o", output, first, third, second)
      #expect(status == 1)
      #expect(
        errors.contains("two.fbs:2:6: error: 'A.tagName' and 'A.tag_name' of ")
          && errors.contains("one.fbs both become 'A.tagName' in Swift, in one module")
          && errors.contains("one.fbs:1:20: note: declared here"),
        "\(errors)")
      #expect(errors.components(separatedBy: "error:").count == 2)
      #expect(!FileManager.default.fileExists(atPath: output))
      #expect(run(command, "-o", output, first, third) == (0, ""))
      let same = try write(
        "namespace A; enum tag_name: byte { B }", to: directory.appending(path: "same.fbs"))
      #expect(
        run(command, "-o", output, first, same).errors.contains(
          "'A.tag_name' is declared in \(first), too, and both are of one Swift module"))
    }
  }

  @Test(
    "two entities of a module cannot share a table",
    arguments: [
      ("table MyPost", "table my_post"), ("table Post2", "table post_2"),
      ("namespace A.B; table C", "namespace A__B; table C"),
      ("table Post (v: \"1.0\")", "table Post (v: \"1_0\", swift_name: \"Other\")"),
    ])
  func sharedTables(first: String, second: String) throws {
    try withTemporaryDirectory { directory in
      func schema(_ table: String, _ file: String) throws -> String {
        let name = table.split(separator: "table ").last?.prefix { $0 != " " } ?? ""
        return try write(
          "\(table) { k: int (primary); }\nroot_type \(name);", to: directory.appending(path: file))
      }
      let one = try schema(first, "one.fbs")
      let two = try schema(second, "two.fbs")
      let output = directory.appending(path: "out").path()
      let calls = [
        ["compile", "-o", output, one, two], ["module", "-o", output, one, two],
        ["compile", "-o", output, "--beside", one, "--beside", two, two],
        ["compile", "-o", output, "--beside", one, "--beside", two, one],
      ]
      for call in calls {
        var errors = ""
        let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
        #expect(command.run(call) == 1)
        #expect(
          errors.contains("would both be stored in the table '") && errors.contains("one.fbs:1:")
            && errors.contains("two.fbs:1:") && errors.contains("note: rename one"), "\(errors)")
        #expect(errors.components(separatedBy: "error:").count == 2)
      }
      #expect(!FileManager.default.fileExists(atPath: output))
    }
  }

  @Test("versions of a type have tables of their own, and only entities have tables")
  func distinctTables() throws {
    try withTemporaryDirectory { directory in
      func schema(_ attributes: String, _ file: String) throws -> String {
        try write(
          "table Post (\(attributes)) { k: int (primary); } root_type Post;",
          to: directory.appending(path: file))
      }
      let old = try schema("v: \"1.0\", swift_name: \"OldPost\"", "old.fbs")
      let new = try schema("v: \"2.0\"", "new.fbs")
      // A table of a similar name that is no root is not stored by itself.
      let part = try write("table post { x: int; }", to: directory.appending(path: "part.fbs"))
      let output = directory.appending(path: "out").path()
      // Two versions with one table.
      func version(_ namespace: String) throws -> String {
        try write(
          "namespace \(namespace); table Post { k: int (primary); } root_type Post;",
          to: directory.appending(path: "\(namespace)1.fbs"))
      }
      #expect(run("-o", output, try version("Kit"), try version("KIT")) == (0, ""))
      let versions = try ["Post", "POST"].map { name in
        try write(
          "table \(name) { k: int (primary); } root_type \(name);",
          to: directory.appending(path: "\(name)1.fbs"))
      }
      let other = directory.appending(path: "other").path()
      #expect(run("-o", other, versions[0], versions[1]) == (0, ""))
      #expect(run("-o", output, old, new, part) == (0, ""))
      #expect(run("-o", output, "--beside", old, "--beside", new, "--beside", part, new) == (0, ""))
    }
  }

  @Test("namespaces are declared once per module, unless its Swift files declare them")
  func namespaces() throws {
    try withTemporaryDirectory { directory in
      let first = try write(
        "namespace A.B; table One { x: int; }", to: directory.appending(path: "one.fbs"))
      let second = try write(
        "namespace A; table Two { x: int; } namespace A.Two; enum In: byte { X }",
        to: directory.appending(path: "two.fbs"))
      let output = directory.appending(path: "out")
      let declarations = output.appending(path: "dflat_namespaces_generated.swift")
      let header =
        "// Generated by dflatc: the namespaces of the module's schemas. Do not edit.\n"
      #expect(run("module", "-o", output.path(), first, second) == (0, ""))
      #expect(
        try text(of: declarations) == header + """

          /// The namespace `A` of the schema.
          public nonisolated enum A {}

          nonisolated extension A {
            /// The namespace `A.B` of the schema.
            public nonisolated enum B {}
          }

          """)
      let swift = try write("public enum A {}", to: directory.appending(path: "A.swift"))
      #expect(run("module", "-o", output.path(), "--swift", swift, first, second) == (0, ""))
      #expect(try !text(of: declarations).contains("enum A"))
      #expect(try text(of: declarations).contains("enum B"))
      _ = try write("public enum A { public enum B {} }", to: URL(filePath: swift))
      #expect(run("module", "-o", output.path(), "--swift", swift, first, second) == (0, ""))
      #expect(try text(of: declarations) == header)
      // Several files of one command share theirs.
      #expect(run("--declare-namespaces", "-o", output.path(), first, second) == (0, ""))
      #expect(
        try text(of: output.appending(path: "one_generated.swift")).contains("enum A {}")
          && !text(of: output.appending(path: "two_generated.swift")).contains("enum A {}"))
    }
  }

  @Test("the types that Swift files declare are found, and nothing else")
  func swiftDeclarations() {
    let declarations = SwiftDeclarations(
      in: """
        // enum Comment {}
        /* /* enum Nested {} */ enum Comment {} */
        let text = "enum Text {} \\(["enum In": "}"])", raw = #"\\" enum Raw {}"#
        let long = \"""
          enum Long { "
          \"""
        public enum A { struct B: Codable where Int: Equatable { func f() { enum Local {} } } }
        extension A.B { public final class C { class var x: Int { 3 }; class func f() {} } }
        extension A { typealias D = Int; enum `default` {} }
        func f() { struct Inner {} }
        var computed: Int { struct Inner {}; return 1 }
        let kind = Kind.enum
        @MainActor actor E<T> {}
        #if os(Linux)
          protocol P {}
        #endif
        """)
    #expect(
      declarations.types == [
        ["A"], ["A", "B"], ["A", "B", "C"], ["A", "D"], ["A", "default"], ["E"], ["P"],
      ])
  }

  @Test("a primary key without an entity gets a hint")
  func keysOfNothing() throws {
    func warnings(_ source: String) -> [String] {
      SchemaCompiler().compile(source: Array(source.utf8), path: "some.fbs").diagnostics
        .map { $0.rendered() }
    }
    let entity = "table Post { id: int (primary); tag: Tag; }\n"
    let tag = "table Tag { name: string (primary); }\n"
    let forgotten = warnings(tag + entity)
    #expect(forgotten.count == 1)
    #expect(
      forgotten.first?.hasPrefix(
        "some.fbs:2:7: warning: 'Post' has a primary key, 'id', and is no entity") ?? false)
    #expect(forgotten.first?.contains("note: add 'root_type Post;' behind it") ?? false)
    #expect(warnings(tag + entity + "root_type Post;") == [])
    let second = warnings(
      tag + entity + "table Other { id: int (primary); }\nroot_type Post;")
    #expect(second.count == 1)
    #expect(second.first?.contains("note: an entity has a file of its own") ?? false)
  }

  private let author = """
    namespace Blog; table Author { handle: string (primary); } root_type Author;

    """

  private func book(_ rule: String) -> String {
    """
    include "author.fbs";
    namespace Blog;
    table Book { id: int (primary); author: string (references: "Author"\(rule), inverse: "books"); }
    root_type Book;

    """
  }

  @Test("a type names those whose rules its deletions follow, also if they are compiled apart")
  func rules() throws {
    try withTemporaryDirectory { directory in
      let target = try write(author, to: directory.appending(path: "App/author.fbs"))
      let source = try write(
        book(", ondelete: \"cascade\""), to: directory.appending(path: "App/book.fbs"))
      let output = directory.appending(path: "out")
      let (status, errors) = run(
        "compile", "-o", output.path(), "--beside", source, target)
      #expect(status == 0 && errors.isEmpty, "\(errors)")
      let model = try text(of: output.appending(path: "author_data_model_generated.swift"))
      #expect(model.contains("      referrers: [{ Blog.Book._schema }])"))
      let (other, complaint) = run("compile", "-o", output.path(), "--beside", target, source)
      #expect(other == 0 && complaint.isEmpty, "\(complaint)")
      let query = try text(of: output.appending(path: "book_query_generated.swift"))
      #expect(query.contains("nonisolated extension Blog.Author {"))
    }
  }

  @Test("a rule that another module's code would have to follow is refused, a reference is not")
  func foreignRules() throws {
    try withTemporaryDirectory { directory in
      _ = try write(author, to: directory.appending(path: "Shared/author.fbs"))
      let path = directory.appending(path: "App/book.fbs")
      let output = directory.appending(path: "out")
      let module = "Shared=\(directory.appending(path: "Shared").path())"
      let source = try write(book(", ondelete: \"cascade\""), to: path)
      let (status, errors) = run("compile", "-o", output.path(), "--module", module, source)
      #expect(status == 1)
      #expect(
        errors.hasPrefix(
          """
          \(source):3:71: error: the rule "cascade" cannot be kept: 'Blog.Author' is compiled without this schema
              3 | table Book { id: int (primary); author: string (references: "Author", ondelete: "cascade", inverse: "books"); }
          """), "\(errors)")
      _ = try write(book(""), to: path)
      let (other, complaint) = run("compile", "-o", output.path(), "--module", module, source)
      #expect(other == 0 && complaint.isEmpty, "\(complaint)")
      let query = try text(of: output.appending(path: "book_query_generated.swift"))
      #expect(query.contains("ToOneField<String, Shared::Blog.Author, Blog.Book>"))
      #expect(query.contains("nonisolated extension Shared::Blog.Author {"))
      #expect(query.contains("public import Shared\n"))
    }
  }

  @Test("the same for references by several fields")
  func compoundRules() throws {
    try withTemporaryDirectory { directory in
      let target = try write(
        """
        namespace Blog; table Author { site: int (primary); handle: string (primary); }
        root_type Author;

        """, to: directory.appending(path: "App/author.fbs"))
      let source = try write(
        """
        include "author.fbs";
        namespace Blog;
        table Book (references: "author: site, author_handle -> Author ondelete cascade") {
          id: int (primary); site: int; author_handle: string;
        }
        root_type Book;

        """, to: directory.appending(path: "App/book.fbs"))
      let output = directory.appending(path: "out")
      let (status, errors) = run("compile", "-o", output.path(), "--beside", source, target)
      #expect(status == 0 && errors.isEmpty, "\(errors)")
      let model = try text(of: output.appending(path: "author_data_model_generated.swift"))
      #expect(model.contains("      referrers: [{ Blog.Book._schema }])"))
      let module = "Shared=\(directory.appending(path: "App/author.fbs").path())"
      let (other, complaint) = run("compile", "-o", output.path(), "--module", module, source)
      #expect(other == 1)
      #expect(
        complaint.hasPrefix(
          """
          \(source):3:64: error: the rule "cascade" cannot be kept: 'Blog.Author' is compiled without this schema
          """), "\(complaint)")
    }
  }
}
