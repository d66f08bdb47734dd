// DraftConflict: what a merge cannot decide by itself, and how it is decided.

import Platform

package import StandardConformances

/// A difference between a draft and the stored object that a merge cannot settle by itself: both
/// have changed a field to different values, or the object was deleted.
public struct DraftConflict<Element: Atom>: Sendable, CustomStringConvertible {
  /// The Swift name of the field; nil if the object was deleted.
  public let field: String?
  /// The object that the draft was made from.
  public let base: Element
  /// The object as it is stored now; nil if it was deleted.
  public let theirs: Element?
  /// The object with the changes of the draft.
  public let mine: Element

  /// - Parameter property: The field; nil if the object was deleted.
  init(_ property: Property?, base: Element, theirs: Element?, mine: Element) {
    field = property?.swiftName
    self.base = base
    self.theirs = theirs
    self.mine = mine
  }

  /// The field and its three values: `likes (base 1, stored 5, draft 3)`.
  public var description: String {
    let property = Element._layout.properties.first { $0.swiftName == field }
    guard let property, let theirs else { return "the object was deleted" }
    func text(_ object: Element) -> String {
      object._row.read { property.describe($0.value(of: property)).shortened }
    }
    return "\(property.swiftName) (base \(text(base)), stored \(text(theirs)), draft \(text(mine)))"
  }
}

/// The conflicts of a merge that was refused because of them. Nothing was changed.
public struct DraftConflicts<Element: Atom>: AdvisedError, Sendable {
  /// The conflicts, in the order of the schema's fields. A deleted object is a single conflict.
  public let conflicts: [DraftConflict<Element>]

  package var problem: String {
    let key = conflicts.first.map { $0.base._row.read { Element._schema.describeKey(of: $0) } }
    let list = conflicts.map(\.description).joined(separator: ", ")
    return "the draft of \(Element._layout.swiftName) \(key ?? "") conflicts with what is stored: "
      + list
  }

  package var advice: String? {
    "choose with merge(_:_:) whose values are kept, or decide each conflict in a closure"
  }
}

/// How a merge settles all of its conflicts.
public enum MergePolicy: Sendable {
  /// Throws ``DraftConflicts`` and changes nothing.
  case refuse
  /// Keeps the draft's values. A deleted object is stored again, as the draft has it.
  case mine
  /// Keeps the stored values. A deleted object remains deleted.
  case theirs
}

/// How a merge settles one conflict.
public enum MergeResolution<Element: Atom> {
  /// Keeps the draft's value. A deleted object is stored again, as the draft has it.
  case mine
  /// Keeps the stored value. A deleted object remains deleted.
  case theirs
  /// Stores another value, which the closure sets. It gets a change request with the values of the
  /// draft; other fields than that of the conflict are ignored. A deleted object is stored again,
  /// with all values that the closure sets.
  case value((inout Element._Draft) throws -> Void)
}
