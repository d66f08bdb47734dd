// The messages of all errors of Dflat and of the modules below and above it.

import DflatTestSupport
import FlatBuffersRuntime
import SQLiteDflat
import Testing

@testable import Dflat

@Suite("Error messages")
struct ErrorTextTests {
  private struct Illegible: Error, CustomStringConvertible {
    let description = "illegible"
  }

  private func migrationError(_ cause: MigrationError.Cause) -> MigrationError {
    MigrationError(cause: cause, table: "post_v1", rowid: 7, newTable: "post_v2")
  }

  private func errors() -> [ErrorText] {
    let causes: [StorageError.Cause] = [
      .alreadyExists, .missing, .corruptRow, .corruptFile, .diskFull, .busy, .conflict, .cannotOpen,
      .fileReplaced, .readOnly, .closed,
    ]
    let taken = StorageError(
      .alreadyExists, table: "post", key: "title: \"a\"", message: "another object has it")
    let storageErrors = causes.map { cause in
      ErrorText(
        StorageError(
          cause, table: "post", rowid: 7, message: "it is so", details: "code 13",
          path: "/data/a.db"),
        "\(cause): file /data/a.db, table post, row 7: it is so (code 13); ")
    }
    return storageErrors + [
      ErrorText(StorageError(.other, message: "it is so"), "other: it is so", isHelpless: true),
      ErrorText(StorageError(.other, message: "it is so", advice: "do this"), "so; do this"),
      ErrorText(TransactionError.aborted, "aborted", "transaction", "before abort()"),
      ErrorText(
        TransactionError.objectAlreadyExists, "primary key", "belongs to another object",
        "submit the request again"),
      ErrorText(TransactionError.diskFull, "disk", "aborted", "free some space"),
      ErrorText(TransactionError.others, "storage", "error hook"),
      ErrorText(WorkspaceError.shutDown, "shut down", "before shutdown()"),
      ErrorText(WorkspaceError.noTypes, "write(_:)", "write(Post.self)"),
      ErrorText(WorkspaceError.undeclaredType("Post"), "Post was used", "add Post.self"),
      ErrorText(WorkspaceError.escapedContext, "context", "inside the closure"),
      ErrorText(
        WorkspaceError.calledByFunction, "a function of a query", "fetch what the function needs"),
      ErrorText(CopyError.noTypes, "copy(to:)", "copy(Post.self, Author.self, to: target)"),
      ErrorText(CopyError.sameTable("post"), "table post", "pass only one"),
      ErrorText(CopyError.ontoItself, "onto itself", "a storage of its own"),
      ErrorText(
        CopyError.targetNotEmpty(table: "post", count: 3), "table post", "3 objects", "delete them"),
      ErrorText(CopyError.damaged(table: "post", count: 1), "1 object", "table post", "repair"),
      ErrorText(CopyError.sourceKeepsChanging, "other programs", "call copy(to:) again"),
      ErrorText(WorkspaceError.nestedWrite, "write(_:)", "wait for itself", "call it later"),
      ErrorText(
        QueryError.unmigrated(Post._schema), "pages of Post", "being migrated", "migrate(_:)"),
      ErrorText(
        DeletionDenied(
          entity: "Author", key: "handle: \"ada\"", referrer: "Post", referrerKey: "number: 7",
          field: "author"),
        "Author (handle: \"ada\")", "author of Post (number: 7)", "delete that Post first"),
      ErrorText(
        SavedObjectsError.otherTable(expected: "post_v2", found: "post_v1"), "post_v1", "post_v2",
        "fetch and save them again"),
      ErrorText(SavedObjectsError.otherFormat, "not objects", "save them again"),
      ErrorText(SavedObjectsError.damaged("it is cut off"), "it is cut off", "save them again"),
      ErrorText(
        SearchSyntaxError(message: "a word is missing", search: "a AND", position: 5),
        "\"a AND\", at 5", "a word is missing", "search(_:)"),
      ErrorText(DraftConflicts<Post>(conflicts: []), "draft of Post", "merge(_:_:)"),
      ErrorText(UnsubmittedRequest(type: "Post"), "Post", "never submitted", "submit(_:)"),
      ErrorText(
        UnsubmittedRequest(type: "Post", isCreation: true), "creation request for Post",
        "nothing is created", "submit(_:)"),
      ErrorText(
        migrationError(.function(Illegible())), "row 7 of post_v1", "post_v2", "illegible",
        "migrate again"),
      ErrorText(
        migrationError(.alreadyExists(taken, rows: [3, 4])), "row 7 of post_v1", "row 3, 4",
        "title: \"a\"", "migrate again"),
      ErrorText(
        migrationError(.unstorable(StorageError(.other, message: "too deep"))), "row 7 of post_v1",
        "too deep", "migrate again"),
      ErrorText(
        VerificationError(offset: 212, reason: "string at offset 212 ends outside the buffer"),
        "offset 212"),
    ]
  }

  @Test("Every error states the problem, the place and the remedy, in all of its messages")
  func texts() {
    for error in errors() { error.check() }
  }

  /// A workspace has to create this error: its initialiser is not public.
  @Test("An error about a dictionary value names the key, namespace and types")
  func dictionary() throws {
    try withTemporaryWorkspace { workspace in
      let dflat = workspace.dflat
      nonisolated(unsafe) var errors: [any Error] = []
      dflat.errorHandler = { errors.append($0) }
      dflat.dictionary["volume"] = 7
      #expect(dflat.dictionary["volume", String.self] == nil)
      var settings = dflat.dictionary(namespace: "settings")
      settings["theme"] = "dark"
      #expect(settings["theme", Int.self] == nil)
      settings["odd"] = Unencodable()
      #expect(errors.count == 3)
      let words = [["volume", "Int", "String"], ["settings/theme"], ["settings/odd"]]
      for (error, words) in zip(errors, words) {
        #expect(error is DictionaryError)
        ErrorText(error).check()
        for word in words { #expect("\(error)".contains(word), "\(error)") }
      }
    }
  }

  private struct Unencodable: Codable, Equatable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws { throw Illegible() }
  }

  @Test("All public error types of these modules are covered")
  func all() throws {
    let known: Set = [
      "\(StorageError.self)", "\(TransactionError.self)", "\(WorkspaceError.self)",
      "\(UnsubmittedRequest.self)", "\(MigrationError.self)",
      "\(DictionaryError.self)", "\(FunctionError.self)", "\(QueryError.self)",
      "\(DeletionDenied.self)", "\(SavedObjectsError.self)", "\(SearchSyntaxError.self)",
      "DraftConflicts", "\(CopyError.self)",
    ]
    #expect(try publicErrorTypes(of: "Dflat") == known)
    #expect(try publicErrorTypes(of: "FlatBuffersRuntime") == ["\(VerificationError.self)"])
    #expect(try publicErrorTypes(of: "SQLiteDflat") == [])
    #expect(try publicErrorTypes(of: "DflatSchema") == [])
  }
}
