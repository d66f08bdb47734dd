// Resolving related values: one query for each relation and level, whatever the number of values.
//
// A path names a relation: `\.owner`, `\.tags.all`, and with brackets a relation of the related
// values, `\.owner[\.team]`. The depth is that of the path, so cycles of values end there.

/// A relation that can be resolved. For `load(_:resolving:)`.
public protocol ResolvableRelation<Target>: Sendable {
  /// The type of the related values.
  associatedtype Target: Persistable
  /// The items.
  var _items: [RelatedItem<Target>] { get }
  /// Notes the items that are to be resolved.
  func _note(in related: RelatedValues<Target>)
  /// Puts values into the items.
  mutating func _resolve(from related: RelatedValues<Target>)
  /// The relation of the related values that is resolved, too.
  var _next: (any NextRelation<Target>)? { get }
}

extension ResolvableRelation {
  /// None.
  public var _next: (any NextRelation<Target>)? { nil }
}

/// A relation of related values.
public protocol NextRelation<Root>: Sendable {
  /// The type of the values that have the relation.
  associatedtype Root: Persistable
  /// Resolves the relation of some values.
  func _resolve(_ values: inout [Root], from source: any RelatedSource) async throws
}

/// Where related values are loaded from. For Silo.
public protocol RelatedSource: Sendable {
  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  func _load<Value: Persistable>(_ ids: [Value.ID], of type: Value.Type) async throws -> [Value]
}

struct RelationPath<Root: Persistable, Relation: ResolvableRelation>: NextRelation {
  let path: any WritableKeyPath<Root, Relation> & Sendable

  func _resolve(_ values: inout [Root], from source: any RelatedSource) async throws {
    typealias Target = Relation.Target
    let related = RelatedValues<Target>()
    let next = note(values, in: related)
    // An id may be noted before an item that has its value.
    let wanted = related.noted.filter { related[$0] == nil }
    if !wanted.isEmpty {
      Target._add(try await source._load(wanted, of: Target.self), to: related)
    }
    if let next, !related.values.isEmpty { try await next._resolve(&related.values, from: source) }
    resolve(&values, from: related)
  }

  /// Notes the items of all values.
  /// - Returns: The relation of the related values, if the path has one.
  private func note(
    _ values: [Root], in related: RelatedValues<Relation.Target>
  ) -> (any NextRelation<Relation.Target>)? {
    // In place, so that no value is copied.
    values.withUnsafeBufferPointer { values in
      var next: (any NextRelation<Relation.Target>)?
      for index in values.indices {
        let relation = values[index][keyPath: path]
        relation._note(in: related)
        if next == nil { next = relation._next }
      }
      return next
    }
  }

  private func resolve(_ values: inout [Root], from related: RelatedValues<Relation.Target>) {
    values.withUnsafeMutableBufferPointer { values in
      for index in values.indices { values[index][keyPath: path]._resolve(from: related) }
    }
  }
}

extension RelatedItem: ResolvableRelation {
  /// The item itself.
  public var _items: [RelatedItem<Value>] { [self] }
  /// Notes the item.
  public func _note(in related: RelatedValues<Value>) { Value._note(self, in: related) }
  /// Puts the value into the item.
  public mutating func _resolve(from related: RelatedValues<Value>) {
    Value._resolve(&self, from: related)
  }

  /// A relation of the related value, to be resolved with it: `\.owner[\.team]`.
  public subscript<R: ResolvableRelation>(
    path: any WritableKeyPath<Value, R> & Sendable
  ) -> NestedRelation<RelatedItem, R> {
    get { NestedRelation(base: self, path: path) }
    set { self = newValue.base }
  }
}

extension Optional: ResolvableRelation where Wrapped: ResolvableRelation {
  /// The items, if there are any.
  public var _items: [RelatedItem<Wrapped.Target>] { self?._items ?? [] }
  /// Notes the items, if there are any.
  public func _note(in related: RelatedValues<Wrapped.Target>) { self?._note(in: related) }
  /// Puts values into the items.
  public mutating func _resolve(from related: RelatedValues<Wrapped.Target>) {
    self?._resolve(from: related)
  }
  /// The relation of the related values that is resolved, too.
  public var _next: (any NextRelation<Wrapped.Target>)? { self?._next }

  /// A relation of the related value, to be resolved with it: `\.parent[\.owner]`.
  public subscript<R: ResolvableRelation>(
    path: any WritableKeyPath<Wrapped.Target, R> & Sendable
  ) -> NestedRelation<Wrapped?, R> {
    get { NestedRelation(base: self, path: path) }
    set { self = newValue.base }
  }
}

extension RelatedItems: ResolvableRelation {
  /// All items.
  public var _items: [RelatedItem<Value>] { Array(self) }
  /// Notes the items.
  public func _note(in related: RelatedValues<Value>) { Value._note(self, in: related) }
  /// Puts values into the items.
  public mutating func _resolve(from related: RelatedValues<Value>) {
    Value._resolve(&self, from: related)
  }

  /// All items, to be resolved: `\.tags.all`.
  public var all: RelatedItems {
    get { self }
    set { self = newValue }
  }

  /// A relation of the related values, to be resolved with them: `\.tags.all[\.owner]`.
  public subscript<R: ResolvableRelation>(
    path: any WritableKeyPath<Value, R> & Sendable
  ) -> NestedRelation<RelatedItems, R> {
    get { NestedRelation(base: self, path: path) }
    set { self = newValue.base }
  }
}

extension RelatedList: ResolvableRelation {
  /// All items.
  public var _items: [RelatedItem<Value>] { Array(self) }
  /// Notes the items.
  public func _note(in related: RelatedValues<Value>) { Value._note(self, in: related) }
  /// Puts values into the items.
  public mutating func _resolve(from related: RelatedValues<Value>) {
    Value._resolve(&self, from: related)
  }

  /// All items, to be resolved: `\.steps.all`.
  public var all: RelatedList {
    get { self }
    set { self = newValue }
  }

  /// A relation of the related values, to be resolved with them: `\.steps.all[\.owner]`.
  public subscript<R: ResolvableRelation>(
    path: any WritableKeyPath<Value, R> & Sendable
  ) -> NestedRelation<RelatedList, R> {
    get { NestedRelation(base: self, path: path) }
    set { self = newValue.base }
  }
}

/// A relation with a relation of its values.
public struct NestedRelation<
  Base: ResolvableRelation, Next: ResolvableRelation
>: ResolvableRelation {
  /// The type of the related values.
  public typealias Target = Base.Target
  fileprivate(set) var base: Base
  let path: any WritableKeyPath<Base.Target, Next> & Sendable

  /// The items.
  public var _items: [RelatedItem<Base.Target>] { base._items }
  /// Notes the items.
  public func _note(in related: RelatedValues<Target>) { base._note(in: related) }
  /// Puts values into the items.
  public mutating func _resolve(from related: RelatedValues<Target>) {
    base._resolve(from: related)
  }
  /// The relation of the related values.
  public var _next: (any NextRelation<Base.Target>)? {
    RelationPath<Base.Target, Next>(path: path)
  }
}

extension NestedRelation {
  /// Brackets behind brackets do not say which values the relation belongs to.
  @available(
    *, unavailable,
    message: "put each relation into the brackets of the one before: '\\.owner[\\.team[\\.lead]]'"
  )
  public subscript<R: ResolvableRelation>(
    path: any WritableKeyPath<Next.Target, R> & Sendable
  ) -> NestedRelation<Self, R> {
    get { preconditionFailure("brackets behind brackets") }
    set { preconditionFailure("brackets behind brackets") }
  }
}
