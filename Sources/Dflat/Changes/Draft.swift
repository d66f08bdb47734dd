// Draft: a copy of an object that is edited without a workspace and merged later.
//
// A draft is two objects: the one that it was made from, and the one with the changes. Which fields
// were changed follows from their difference, field by field of the root table. A field that was
// set back to its first value is not changed.

/// An independent copy of an object that can be edited for as long as necessary, and then merged
/// into what is stored at that time.
///
///     var draft = post.draft()
///     draft.title = "Tickets"
///     draft.tags.append("swift")
///     try await dflat.write(Post.self) { [draft] txn in try txn.merge(draft) }
///
/// A draft is a value: copies are independent, and it may be passed to any thread. It knows no
/// workspace, can be encoded, and its fields are read and set under their own names. A field with
/// the name of a member of `Draft`, for example `base`, is read as `draft.object.base` and set as
/// `draft.change { $0.base = … }`.
///
/// See <doc:DraftsAndLiveObjects> for merging.
@dynamicMemberLookup
public struct Draft<Element: Atom>: Sendable, Hashable {
  /// The object that the draft was made from.
  public let base: Element
  /// The object with the changes of the draft. Its `_rowid` is −1 if there are any.
  public internal(set) var object: Element

  init(_ base: Element) {
    self.base = base
    object = base
  }

  /// Whether any field has another value than in ``base``.
  public var hasChanges: Bool { base != object }

  /// The Swift names of the fields that have other values than in ``base``, in the order of the
  /// schema.
  public var changedFields: [String] { changes.map(\.swiftName) }

  /// Sets several fields at once, which costs as much as setting one.
  /// - Parameter change: Sets fields of a change request, which has the values of the draft.
  /// - Throws: What `change` throws; the draft is then as before.
  public mutating func change(_ change: (inout Element._Draft) throws -> Void) rethrows {
    object = try object.with(change)
  }

  /// Gives all fields their values in ``base`` again.
  public mutating func discardChanges() { object = base }

  /// The value of a property.
  public subscript<Value>(dynamicMember property: KeyPath<Element, Value>) -> Value {
    object[keyPath: property]
  }

  /// The value of a field, which can be set.
  @_disfavoredOverload
  public subscript<Value>(
    dynamicMember field: ReferenceWritableKeyPath<Element._Draft, Value>
  ) -> Value {
    get { Element._Draft.creationRequest(object)[keyPath: field] }
    set { change { $0[keyPath: field] = newValue } }
  }

  /// The fields that were changed.
  var changes: [Property] {
    Element._layout.differences(base._row, object._row)
  }
}

extension Atom {
  /// A draft of this object: an independent copy to edit, which is merged later.
  ///
  /// The object need not be stored. See ``WriteContext/merge(_:_:)``.
  @_disfavoredOverload
  public func draft() -> Draft<Self> { Draft(self) }
}

extension TableLayout {
  /// The properties of the root table whose values differ.
  func differences(_ left: Row, _ right: Row) -> [Property] {
    left.read { left in
      right.read { right in
        properties.filter { !$0.isEqual(left, right) }
      }
    }
  }
}
