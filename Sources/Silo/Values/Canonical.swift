// Canonical: the canonical representation of a value as an entity, so that all of Dflat (plans,
// indexes, observation, integrity checks) works for values.

public import Dflat
public import FlatBuffersRuntime

/// The stored form of a value: an object over a row.
///
/// Conditions and orders of a silo are about it: `!Task.isDone` is a
/// `Condition<Canonical<Task>>`. Programs seldom name it.
public struct Canonical<Value: Persistable>: DflatAtom {
  /// The bytes of the object, for Dflat.
  public let _row: DflatRow

  /// An object over bytes that were verified, for Dflat.
  public init(_row: DflatRow) {
    self._row = _row
  }

  /// The canonical representation of a value.
  public init(_ value: Value) {
    _row = DflatRow { builder in
      CanonicalBuilder(builder).table(Value._canonical.fields) { value._write(to: &$0) }
    }
  }

  /// The stored form of the value's id.
  public var id: Value.ID._Key {
    let schema = Value._canonical
    let key = _row.read { try? Value.ID._Key._read($0, at: schema.keyOffset) }
    return key.flatMap { $0 } ?? Value.ID._Key._absentKey
  }

  /// The value.
  /// - Throws: `UnreadableValue` if a stored property cannot be read.
  public func value() throws -> Value {
    try _row.read { table in Result { try Value._value(table, Value._canonical.fields) } }.get()
  }

  /// What changes are made with, for Dflat.
  public typealias _Draft = CanonicalRequest<Value>

  /// The table, layout, key and indexes, for Dflat.
  public static var _schema: EntitySchema { Value._canonical.entity }
}

/// A creation, change or deletion of a stored value, for Dflat. Silos make them.
public final class CanonicalRequest<Value: Persistable>: ChangeRequest {
  /// The type of the object that the request is about.
  public typealias Element = Canonical<Value>

  /// What is to be done, for Dflat.
  public var _change: PendingChange
  private let object: Canonical<Value>

  private init(_ change: PendingChange, _ object: Canonical<Value>) {
    _change = change
    self.object = object
  }

  /// Writes the fields of the object.
  public func _encode(to builder: FlatBufferBuilder) -> FlatBufferBuilder.Offset {
    object._encode(to: builder)
  }

  /// A new object with the fields of `o`.
  public static func creationRequest(_ o: Element) -> CanonicalRequest {
    CanonicalRequest(.creation(of: o), o)
  }

  /// An update of the stored object, which changes nothing; nil if it does not exist.
  public static func changeRequest(_ o: Element) -> CanonicalRequest? {
    PendingChange.update(of: o).map { CanonicalRequest($0, o) }
  }

  /// An update with the values of `o` if it is stored, otherwise its creation.
  public static func upsertRequest(_ o: Element) -> CanonicalRequest {
    CanonicalRequest(.upsert(of: o), o)
  }

  /// The deletion of the stored object; nil if it does not exist.
  public static func deletionRequest(_ o: Element) -> CanonicalRequest? {
    PendingChange.deletion(of: o).map { CanonicalRequest($0, o) }
  }
}
