// EntityBuilder: the common protocol of entity builders.

/// The fields of an entity as mutable properties: the generated `PostBuilder` of a `Post`.
/// Conformances are generated.
///
/// It is `Sendable`, so that a program's own extensions are `nonisolated` without saying so, also
/// in a module whose default isolation is the main actor.
public protocol EntityBuilder: Sendable {}
