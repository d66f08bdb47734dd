// The description of an entity, under a name that no field can have.

extension Atom {
  /// The same as `description`, for generated code of entities that have a field of that name.
  public var _description: String {
    _row.read { Self._layout.describe($0) }
  }
}
