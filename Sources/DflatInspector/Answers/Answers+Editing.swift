// Changing an object, or deleting it: what would differ is shown, and then it is committed.

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

/// What the deletion of an object would do.
struct DeletionAnswer: Encodable {
  let key: [String]
  let version: String
  let values: ShownValue
  /// What happens to other objects.
  let effects: [ObjectDeletion.Effect]
}

extension Answers {
  private func requireChanges() throws {
    if allowsChanges { return }
    throw NoAnswer(403, "this inspector only shows: start it with --allow-changes")
  }

  private func readDraft(_ question: Question) throws -> ObjectDraft {
    try requireChanges()
    let type = try type(question)
    guard let json = question.json else { throw NoAnswer(400, "the question has no object") }
    let draft = try store.draft(of: type, json: Data(json.utf8))
    if let row = question.row, let base = try store.object(of: type, rowID: row),
      !base.key.elementsEqual(draft.key, by: { $0.utf8.elementsEqual($1.utf8) })
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
  // MARK: Deleting

  func deletion(_ question: Question) throws -> DeletionAnswer {
    try requireChanges()
    let type = try type(question)
    let deletion = try store.deletion(of: try object(question, of: type), in: type)
    return DeletionAnswer(
      key: deletion.stored.key, version: deletion.version,
      values: try ShownValue(deletion.stored, .object), effects: deletion.effects)
  }

  func delete(_ question: Question) throws -> CommitAnswer {
    try requireChanges()
    let type = try type(question)
    guard let version = question.version else {
      throw NoAnswer(400, "the question has no version")
    }
    try store.delete(try object(question, of: type), in: type, ifStill: version)
    counts.forget()
    return CommitAnswer(table: type.table, row: nil)
  }
}
