// The texts of the server's errors.

import DflatTestSupport
@testable import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("The texts of the server's errors")
struct ErrorTextTests {
  @Test("They have the code, the statement, and what to do where that is known")
  func texts() throws {
    func error(_ state: String, isLost: Bool = false) -> PostgresError {
      PostgresError(
        state: state, message: "it failed", detail: "the detail", sql: "SELECT 1",
        isConnectionLost: isLost)
    }
    for state in ["40001", "40P01", "55P03", "57014", "28P01", "53100"] {
      ErrorText(error(state), "it failed (the detail)", "SQLSTATE \(state)", "SELECT 1").check()
    }
    let late = PostgresError(
      state: "40001", message: "it failed",
      detail: "Reason code: Canceled on conflict out to old pivot.", isConnectionLost: false)
    for text in ["\(late)", "\(StorageError(late))"] {
      #expect(text.contains("; end the transaction that another connection keeps open"), "\(text)")
    }
    // What is refused stands in the message.
    ErrorText(error("42501"), "it failed (the detail)", "SQLSTATE 42501", "grant").check()
    #expect(!"\(error("42501")) \(StorageError(error("42501")))".contains("SELECT 1"))
    ErrorText(error("", isLost: true), "can be reached").check()
    ErrorText(error("42601"), "it failed", isHelpless: true).check()
    let long = PostgresError(
      state: "23505", message: "it failed",
      detail: "Key (__pk0)=(\(String(repeating: "k", count: 70_000))) already exists.", sql: nil,
      isConnectionLost: false)
    #expect("\(long)".utf8.count < 1000 && "\(long)".contains("bytes)"))
    #expect("\(StorageError(long, table: "post"))".utf8.count < 1000)
    let hinted = PostgresError(
      state: "53200", message: "out of shared memory", hint: "You might need more.",
      sql: String(repeating: "SELECT 1;", count: 10_000), isConnectionLost: false)
    for text in ["\(hinted)", "\(StorageError(hinted))"] {
      #expect(text.contains("; the server advises: You might need more.") && text.utf8.count < 1000)
    }
    // The client library's errors may have neither code nor statement.
    let bare = PostgresError(state: "", message: "it failed", sql: "", isConnectionLost: false)
    #expect("\(bare)" == "it failed")
    #expect("\(StorageError(bare))".contains("it failed") && !"\(StorageError(bare))".contains("("))
    #expect(try publicErrorTypes(of: "PostgresDflat") == ["\(PostgresError.self)"])
  }

  @Test("A schema from a file with settings that is no name fails to open, and says why")
  func schemaNames() async throws {
    for name in [
      "", "a\0b", String(repeating: "s", count: 64), String(repeating: "ß", count: 90_000),
    ] {
      var configuration = PostgresWorkspace.Configuration()
      configuration.schema = name
      do {
        _ = try await PostgresWorkspace.open("postgresql:///nowhere", configuration: configuration)
        Issue.record("the schema \(name.prefix(10)) was taken")
      } catch let error as StorageError {
        #expect(error.cause == .cannotOpen)
        #expect("\(error)".contains("is no name") && "\(error)".utf8.count < 1000)
      }
      let errors = ReportedErrors()
      configuration.onError = { errors.add($0) }
      let workspace = PostgresWorkspace("postgresql:///nowhere", configuration: configuration)
      #expect(workspace.fetch(for: Post.self).all().isEmpty)
      #expect(errors.take().contains { $0.cause == .cannotOpen })
      await workspace.shutdown()
    }
  }

  @Test(
    "So does one that the server keeps for itself", arguments: ["pg_foo", "information_schema"])
  func reservedSchemas(name: String) async throws {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = name
    let error = await #expect(throws: StorageError.self) {
      _ = try await PostgresWorkspace.open(TestCluster.shared().url, configuration: configuration)
    }
    #expect(error?.cause == .cannotOpen)
    #expect("\(error as Any)".contains("does not begin with pg_"), "\(error as Any)")
  }

  @Test("A role or a database that only reads by default is named in the error")
  func readOnlyByDefault() async throws {
    try await withSchema { schema in
      let owner = postgresWorkspace(schema: schema)
      func open(_ schema: String) async throws -> PostgresWorkspace {
        var configuration = PostgresWorkspace.Configuration()
        configuration.schema = schema
        // As if it were set for the role.
        return try await PostgresWorkspace.open(
          TestCluster.shared().url.setting(
            "options", to: "-cdefault_transaction_read_only%3Don"), configuration: configuration)
      }
      var errors: [StorageError?] = []
      errors.append(
        await #expect(throws: StorageError.self) { _ = try await open("\(schema)_other") })
      try await owner.prepare(Note.self)
      let dflat = try await open(schema)
      errors.append(
        await #expect(throws: StorageError.self) {
          try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
        })
      errors.append(
        await #expect(throws: StorageError.self) { try await dflat.prepare(Post.self) })
      for error in errors {
        #expect(error?.cause == .readOnly, "\(error as Any)")
        #expect("\(error as Any)".contains("turn default_transaction_read_only off"))
      }
      await dflat.shutdown()
      await owner.shutdown()
    }
  }

  /// What is done to the tables of an open workspace.
  enum Loss: String, CaseIterable {
    case table = "DROP TABLE @.note"
    case schema = "DROP SCHEMA @ CASCADE"
    case renaming = "ALTER SCHEMA @ RENAME TO @_renamed"
  }

  @Test(
    "If tables are gone, the errors say so, and what they advise helps", arguments: Loss.allCases)
  func goneTables(loss: Loss) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      try PlainConnection().run(loss.rawValue.replacing("@", with: schema))
      defer {
        _ = try? PlainConnection().run("DROP SCHEMA IF EXISTS \(schema)_renamed CASCADE")
      }
      let errors = [
        await #expect(throws: StorageError.self) {
          try await dflat.read { try $0.fetch(for: Note.self).all().count }
        },
        await #expect(throws: StorageError.self) {
          try await dflat.write(Note.self) { try $0.insert(Note(key: 2)) }
        },
      ]
      for error in errors {
        #expect("\(error as Any)".contains("dropped or renamed"), "\(error as Any)")
      }
      await dflat.shutdown()
      let again = postgresWorkspace(schema: schema)
      try await again.prepare(Note.self)
      try await again.write(Note.self) { try $0.insert(Note(key: 2)) }
      #expect(again.fetch(for: Note.self).all().map(\.key) == [2])
      await again.shutdown()
    }
  }
}
