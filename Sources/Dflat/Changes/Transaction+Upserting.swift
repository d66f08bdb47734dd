// Changing objects by their keys, whether they are stored or not.

extension Transaction {
  /// Changes the objects with some keys. An object that is not stored is inserted; all of its fields
  /// are at their defaults before `change` is called.
  ///
  /// - Parameters:
  ///   - keys: The keys, each once.
  ///   - change: Sets fields of the draft of the object whose key has the given place. It sets the
  ///     key, too, since a new object has none.
  func upsertAll<Draft: ChangeRequest>(
    _ type: Draft.Type, _ schema: EntitySchema, keys: [KeyValues],
    _ change: (inout Draft, Int) throws -> Void
  ) throws -> BulkChange {
    try bulk(schema) { result in
      let empty = Draft.Element._empty
      // One draft stands for one object after the other.
      let draft = Draft.creationRequest(empty)
      draft._change.noteSubmission()
      for (place, key) in keys.enumerated() {
        if let stored = try written({ try $0.row(of: schema, with: key) }) {
          draft._change = .update(ofCurrent: stored, at: version)
        } else {
          draft._change = .creation(of: empty._row)
        }
        var request = draft
        try change(&request, place)
        require(request === draft, "the closure of a bulk change has replaced the draft")
        switch try carryOut(&draft._change, of: schema, { draft._encode(to: $0) }) {
        case .inserted: result.inserted += 1
        case .updated: result.updated += 1
        case .identity: result.unchanged += 1
        case .deleted: preconditionFailure("an upsert has deleted an object")
        }
      }
    }
  }
}
