// Change requests: what a transaction is asked to do with one object.
//
// A generated request holds the values of the fields that were set. The pending change says what
// the request is for, which fields were set, and which row the others are read from. Fields that
// were not set keep their stored values.
//
// Every entity names its request (`Atom._Draft`), so requests belong to the model. How a pending
// change is made, and what a transaction does with it, is in `Changes`.

public import FlatBuffersRuntime
import Platform

/// A creation, update or deletion of one object, to be submitted in a transaction. Conformances are
/// generated.
///
/// Requests are used on the thread of their transaction and on no actor. A program's own extensions
/// are therefore `nonisolated` without saying so, also in a module whose default isolation is the
/// main actor.
public protocol ChangeRequest<Element>: AnyObject, SendableMetatype {
  associatedtype Element: Atom
  var _change: PendingChange { get set }
  /// Writes the fields that were set as a root table; all other fields and defaults are left out.
  func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset

  /// A new object with the fields of `o`.
  static func creationRequest(_ o: Element) -> Self
  /// An update of the stored object, filled with its latest stored values; nil if it does not
  /// exist.
  static func changeRequest(_ o: Element) -> Self?
  /// An update with the values of `o` if it is stored, otherwise its creation.
  static func upsertRequest(_ o: Element) -> Self
  /// The deletion of the stored object; nil if it does not exist.
  static func deletionRequest(_ o: Element) -> Self?
}

/// The purpose of a change request. For generated code.
public struct PendingChange {
  enum Kind: UInt8 {
    case creation, update, deletion
    /// The request has succeeded and cannot be submitted again.
    case spent
  }

  var kind: Kind
  /// The row that fields which were not set are read from: the stored row at the time of the
  /// request, or the row to copy.
  @usableFromInline let base: Row?
  /// The version of the transaction when the row was looked up.
  let version: TransactionVersion
  /// The fields that were set, which are not read from the row any more.
  @usableFromInline var fields: FieldSet
  #if DEBUG
    @usableFromInline var watch: (any ChangeWatch)?
  #endif
  /// Why the object that the values come from cannot be stored; nil if it can.
  let refusal: String?

  init(
    _ kind: Kind, over base: Row?, at version: TransactionVersion = .none,
    _ fields: FieldSet = .none, refusal: String? = nil
  ) {
    self.refusal = refusal
    self.kind = kind
    self.base = base
    self.version = version
    self.fields = fields
  }

  /// The row that fields which were not set are read from.
  @inlinable @inline(__always)
  public var row: Row {
    guard let base else { preconditionFailure("a request for a new object has no row") }
    return base
  }

  /// Whether any field was set.
  var isChanged: Bool { !fields.isEmpty }

  /// Whether a field was set, so that its value is the request's and not the row's.
  @inlinable @inline(__always)
  public func isSet(_ field: Int) -> Bool {
    base == nil || fields.contains(field)
  }

  /// Marks a field as set.
  @inlinable @inline(__always)
  public mutating func set(_ field: Int) {
    fields.insert(field)
    #if DEBUG
      watch?.isChanged = true
    #endif
  }
}

/// A moment of a transaction: rows that were read at it are current until the transaction writes
/// again.
struct TransactionVersion: Equatable {
  /// The number of the transaction in the process; 0 for none.
  private let transaction: UInt32
  /// What the workspace marks rows with; see `ReadMark`. 0 for none.
  let workspace: UInt32
  /// The number of the transaction's writes.
  var count = 0

  private init(transaction: UInt32, workspace: UInt32) {
    self.transaction = transaction
    self.workspace = workspace
  }

  /// The version of a transaction that begins.
  init(in workspace: UInt32) {
    self.init(
      transaction: Self.transactions.add(1, ordering: .relaxed).newValue, workspace: workspace)
  }

  private static let transactions = Atomic<UInt32>(0)

  /// A version that belongs to no transaction.
  static var none: TransactionVersion { TransactionVersion(transaction: 0, workspace: 0) }
}

#if DEBUG
  /// Notes what happens to a request. Used where the request is used.
  @usableFromInline
  protocol ChangeWatch: AnyObject {
    /// Whether a field was set.
    var isChanged: Bool { get set }
    var isSubmitted: Bool { get set }
  }
#endif
