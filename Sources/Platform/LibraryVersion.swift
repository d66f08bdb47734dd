// The version of this package, which its compiler prints and its files name.

/// The version of this package.
public enum LibraryVersion {
  /// As in the tag of the release.
  public static let current = "0.1.0"
}
