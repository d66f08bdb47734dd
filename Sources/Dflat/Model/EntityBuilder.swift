// EntityBuilder: what builders of entities have in common.

/// The fields of an entity, to be changed and built: the generated `PostBuilder` of a `Post`. Conformances are generated.
///
/// It is `Sendable`, so that extensions of a program's own are `nonisolated` without saying so, also
/// in a module that belongs to the main actor.
public protocol EntityBuilder: Sendable {}
