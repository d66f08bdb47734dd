// Changing an object: a draft whose difference is shown, and its commit.

import DflatTools
import Foundation

/// How a draft differs from what is stored.
struct DraftAnswer: Encodable {
  let key: [String]
  /// Whether the object is new.
  let isNew: Bool
  /// The version of the object that is stored; nil if there is none.
  let version: String?
  /// Whether the stored object is the one that the draft was made of.
  let isCurrent: Bool
  let changes: [ObjectDifference.Field]
}

/// What became of a draft.
struct CommitAnswer: Encodable {
  let table: String
  let row: String?
}

/// A draft that was not stored.
struct ConflictAnswer: Encodable {
  let message: String
  /// The version that is stored now; nil if the object was deleted.
  let version: String?
  /// How the draft differs from what is stored now.
  let changes: [ObjectDifference.Field]
}

extension Answers {
  private func readDraft(_ question: Question) throws -> ObjectDraft {
    guard allowsChanges else {
      throw NoAnswer(403, "this inspector only shows: start it with --allow-changes")
    }
    let type = try type(question)
    guard let json = question.json else { throw NoAnswer(400, "the question has no object") }
    let draft = try store.draft(of: type, json: Data(json.utf8))
    if let row = question.row, let base = try store.object(of: type, rowID: row),
      base.key != draft.key
    {
      throw NoAnswer(
        status: 400,
        problem: Problem(
          message: "the key of an object cannot be changed",
          hint: "store it as a new object", field: type.keyFields.first))
    }
    return draft
  }

  func draft(_ question: Question) throws -> DraftAnswer {
    let draft = try readDraft(question)
    return DraftAnswer(
      key: draft.key, isNew: draft.stored == nil, version: draft.stored?.version,
      isCurrent: draft.stored?.version == question.version,
      changes: draft.changes)
  }

  func commit(_ question: Question) throws -> HTTPResponse {
    let draft = try readDraft(question)
    do { try store.commit(draft, replacing: question.version) } catch let conflict as DraftConflict
    {
      let now = try store.draft(of: draft.type, json: Data((question.json ?? "").utf8))
      return Self.json(
        ConflictAnswer(
          message: conflict.description, version: now.stored?.version, changes: now.changes),
        status: 409)
    }
    counts.forget()
    let stored = try store.object(of: draft.type, key: draft.key)
    return Self.json(
      CommitAnswer(table: draft.type.table, row: stored?.rowID.map { "\($0)" }))
  }
}
