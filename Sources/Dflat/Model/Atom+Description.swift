// The text of an entity under a name that no field takes.

extension Atom {
  /// What `description` is, for generated code of entities with a field of that name.
  public var _description: String {
    _row.read { Self._layout.describe($0) }
  }
}
