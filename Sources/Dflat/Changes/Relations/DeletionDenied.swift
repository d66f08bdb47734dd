// DeletionDenied: an object is not deleted because another one refers to it.

package import StandardConformances

/// An object was not deleted, because an object that refers to it has the rule "deny".
///
/// Nothing was changed by the request, and the transaction continues; a change of many objects ends
/// it. In a ``Reversal`` it is the reason why an inserted object stays, whatever rule the reference
/// has.
public struct DeletionDenied: AdvisedError, Sendable, Equatable {
  /// The type of the object.
  public let entity: String
  /// Its primary key with the schema's names: `handle: "ada"`.
  public let key: String
  /// The type of the object that refers to it.
  public let referrer: String
  /// The primary key of that object.
  public let referrerKey: String
  /// The field that refers to the object, with the schema's name.
  public let field: String

  package var problem: String {
    "deletionDenied: \(entity) (\(key)) is not deleted: \(field) of \(referrer) (\(referrerKey)) refers to it"
  }

  package var advice: String? { "delete that \(referrer) first, or set its \(field)" }
}
