// Loading related values: one query for each relation and level, whatever the number of values.
//
// A path names a relation: `\.owner`, `\.tags.all`, and with brackets a relation of the related
// values, `\.owner[\.team]`. The depth is that of the path, so cycles of values end there.

import Dflat

/// A relation that can be resolved. For `load(_:resolving:)`.
public protocol ResolvableRelation<Target>: Sendable {
  /// The type of the related values.
  associatedtype Target: Persistable
  /// The items.
  var _items: [RelatedItem<Target>] { get }
  /// Puts values into the items.
  mutating func _resolve(_ value: (Target.ID) -> Target?)
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
  func _resolve(_ values: inout [Root], in silos: Silos) async throws
}

struct RelationPath<Root: Persistable, Relation: ResolvableRelation>: NextRelation {
  let path: any WritableKeyPath<Root, Relation> & Sendable

  func _resolve(_ values: inout [Root], in silos: Silos) async throws {
    typealias Target = Relation.Target
    let relations = values.map { $0[keyPath: path] }
    // By the bytes of the ids, as they are stored.
    var found: [CompositeKey<Target.ID._Key>: Target] = [:]
    var wanted: [CompositeKey<Target.ID._Key>: Target.ID] = [:]
    for item in relations.lazy.flatMap(\._items) {
      let key = CompositeKey(item.id._key)
      if let value = item.value { found[key] = value } else { wanted[key] = item.id }
    }
    for key in found.keys { wanted[key] = nil }
    if !wanted.isEmpty {
      for value in try await silos[Target.self].load(wanted.values) {
        found[CompositeKey(value.id._key)] = value
      }
    }
    if let next = relations.lazy.compactMap(\._next).first, !found.isEmpty {
      var targets = Array(found.values)
      try await next._resolve(&targets, in: silos)
      for target in targets { found[CompositeKey(target.id._key)] = target }
    }
    for index in values.indices {
      values[index][keyPath: path]._resolve { found[CompositeKey($0._key)] }
    }
  }
}

extension RelatedItem: ResolvableRelation {
  /// The item itself.
  public var _items: [RelatedItem<Value>] { [self] }
  /// Puts the value into the item.
  public mutating func _resolve(_ value: (Value.ID) -> Value?) {
    if let value = value(id) { self = .resolved(value) }
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
  /// Puts values into the items.
  public mutating func _resolve(_ value: (Wrapped.Target.ID) -> Wrapped.Target?) {
    self?._resolve(value)
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
  /// Puts values into the items.
  public mutating func _resolve(_ value: (Value.ID) -> Value?) {
    for id in ids { if let value = value(id) { insert(value) } }
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
  /// Puts values into the items.
  public mutating func _resolve(_ value: (Value.ID) -> Value?) {
    for index in indices { self[index]._resolve(value) }
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
  /// Puts values into the items.
  public mutating func _resolve(_ value: (Target.ID) -> Target?) { base._resolve(value) }
  /// The relation of the related values.
  public var _next: (any NextRelation<Base.Target>)? {
    RelationPath<Base.Target, Next>(path: path)
  }
}

extension Silo {
  /// The values with some ids, with related values.
  ///
  ///     try await tasks.load(ids, resolving: \.owner, \.tags.all, \.owner[\.team])
  ///
  /// There is one query for each relation and level. Related values that are not stored stay
  /// unresolved.
  ///
  /// - Parameters:
  ///   - ids: The ids; those without a value are left out.
  ///   - paths: The relations.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load<each R: ResolvableRelation>(
    _ ids: some Sequence<Value.ID>,
    resolving paths: repeat any WritableKeyPath<Value, each R> & Sendable
  ) async throws -> [Value] {
    var values = try await load(ids)
    for path in repeat each paths {
      try await RelationPath(path: path)._resolve(&values, in: silos)
    }
    return values
  }

  /// The value with an id, with related values; nil if it is not stored.
  /// - Parameters:
  ///   - id: The id.
  ///   - paths: The relations.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load<each R: ResolvableRelation>(
    _ id: Value.ID, resolving paths: repeat any WritableKeyPath<Value, each R> & Sendable
  ) async throws -> Value? {
    try await load(CollectionOfOne(id), resolving: repeat each paths).first
  }
}
