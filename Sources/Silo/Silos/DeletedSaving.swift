// DeletedSaving: what becomes of values that are saved after they were deleted.

/// What `save` does with a value that was deleted, while its deletion is not uploaded.
public enum DeletedSaving: Sendable {
  /// Throws `SiloError.deleted`, and saves nothing.
  case refuse
  /// Leaves the value out: for what comes from a server, which does not know of the deletion yet.
  case skip
  /// Saves the value, and takes the deletion back: for a value that the user makes again. Uploads
  /// that wait are not changed; enqueue one for the new value behind that of the deletion.
  case recreate
}
