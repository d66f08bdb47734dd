// The names of tables and indexes in the database.

import DflatSchema
import Testing

@Suite("Index paths and table names")
struct IndexPathTests {
  static let blog = """
    namespace Blog;
    enum Status: byte { Draft, Published, Archived }
    struct Place { lat: double; lon: double; }
    table Author { handle: string; name: string; }
    table Link { url: string (indexed); }
    table Photo { path: string (unique); width: int; }
    union Attachment { Link, Photo }
    table Post (v: "1.0") {
      site: string (primary);
      number: int (primary);
      status: Status = Published;
      likes: int (indexed);
      place: Place;
      author: Author;
      tags: [string];
      attachment: Attachment (indexed);
      old_rank: short (deprecated);
      is_pinned: bool;
    }
    root_type Post;
    """

  @Test("The running example has the storage's paths")
  func runningExample() throws {
    let schema = try schema(Self.blog)
    let post = QualifiedName("Blog.Post")
    let paths = schema.indexPaths(of: post)
    #expect(paths.map(\.path) == ["f10", "f20__type", "f20__u1__f4", "f20__u2__f4"])
    #expect(paths.map(\.isUnique) == [false, false, false, true])
    #expect(paths.map(\.position.line) == [12, 16, 5, 6])
    #expect(schema.tableName(of: post) == "blog__post_v1_0")
    #expect(schema.files.map(\.root) == [post])
  }

  @Test("A table without namespace and version has only its own name, without underscores")
  func plainTableName() throws {
    let schema = try schema(
      "table My_Post_ { id: int (primary); } namespace A.Bc; table T (v: \"2_x.1\") {}")
    #expect(schema.tableName(of: QualifiedName("My_Post_")) == "mypost_")
    #expect(schema.tableName(of: QualifiedName("A.Bc.T")) == "a__bc__t_v2_x_1")
  }

  @Test("Indexes inside structs and struct members are paths of byte offsets")
  func structs() throws {
    let schema = try schema(
      """
      struct Inner { a: byte; b: int (indexed); }
      struct Outer { x: short; inner: Inner; }
      union U { Outer, text: string }
      table T { id: int (primary); o: Outer; u: U; }
      root_type T;
      """)
    #expect(
      schema.indexPaths(of: QualifiedName("T")).map(\.path) == [
        "f6__f4__f4", "f10__u1__f4__f4",
      ])
  }

  @Test("No path passes through one table twice, including the root")
  func cycles() throws {
    let schema = try schema(
      """
      table A { id: int (primary); n: int (indexed); b: B; self_: A; }
      table B { n: int (indexed); a: A; c: C; b: B; }
      table C { n: int (unique); b: B; }
      root_type A;
      """)
    #expect(
      schema.indexPaths(of: QualifiedName("A")).map(\.path) == [
        "f6", "f8__f4", "f8__f8__f4",
      ])
    #expect(
      schema.indexPaths(of: QualifiedName("C")).map(\.path) == [
        "f4", "f6__f4", "f6__f6__f6",
      ])
  }

  @Test("No path follows vectors and deprecated fields")
  func noWayThrough() throws {
    let schema = try schema(
      """
      table B { n: int (indexed); old: int (indexed, deprecated); }
      table A { id: int (primary); many: [B]; gone: B (deprecated); b: B; }
      root_type A;
      """)
    #expect(schema.indexPaths(of: QualifiedName("A")).map(\.path) == ["f10__f4"])
  }

  @Test("Tables that all refer to each other are refused quickly, not followed for ever")
  func explosion() throws {
    let count = 14
    var text = ""
    for table in 0..<count {
      text += "table T\(table) { id: int (primary, indexed);"
      for other in 0..<count { text += " r\(other): T\(other);" }
      text += "}\n"
    }
    let clock = ContinuousClock()
    let start = clock.now
    #expect(
      errors(text + "root_type T0;") == [
        "15:11: the root 'T0' has more than 10000 indexes"
      ])
    #expect(clock.now - start < .seconds(100))
    let paths = try schema(text).indexPaths(of: QualifiedName("T3"))
    #expect(paths.count == Schema.indexPathLimit)
  }

  @Test("Dense cycles without an index cost nothing")
  func denseWithoutIndex() throws {
    var text = ""
    for table in 0..<40 {
      text += "table T\(table) { id: int (primary);"
      for other in 0..<40 { text += " r\(other): T\(other);" }
      text += "}\n"
    }
    #expect(try schema(text + "root_type T0;").indexPaths(of: QualifiedName("T0")).isEmpty)
  }
}
