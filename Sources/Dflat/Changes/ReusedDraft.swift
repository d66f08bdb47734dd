// ReusedDraft: one draft that stands for one object after the other.
//
// A draft keeps the values that were set for earlier objects, and they are encoded for each later
// one, though only the fields that were set are used. So a draft with values that the last object
// did not set is given up: a list of a parent is not encoded again for each of its children.

struct ReusedDraft<Draft: ChangeRequest> {
  private var draft: Draft?
  /// The fields that have been set since the draft was made, and those of the last object.
  private var filled: UInt64 = 0
  private var last: UInt64 = 0

  /// The draft for the next object.
  /// - Parameter base: Any object, for the first draft.
  mutating func next(_ change: PendingChange, base: @autoclosure () -> Draft.Element) -> Draft {
    if let draft, filled & ~last == 0 {
      draft._change = change
      return draft
    }
    let draft = Draft.creationRequest(base())
    draft._change.noteSubmission()
    draft._change = change
    self.draft = draft
    filled = 0
    return draft
  }

  /// Notes what was set for an object, before it is written.
  /// - Parameter request: What the caller's closure has left in place of the draft.
  mutating func note(_ request: Draft) {
    require(
      request === draft, "the closure of a bulk change has replaced the draft: set its fields")
    last = request._change.fields.mask
    filled |= last
  }
}
