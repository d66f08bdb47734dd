// URLs as texts that they come back from equal, for the libraries that store them.

package import Foundation

extension URL {
  // No URL contains a line break.
  private static let separator: Character = "\n"

  /// The string; for a relative URL its own string and then those of its bases.
  package var storedText: String {
    guard let baseURL else { return absoluteString }
    return "\(relativeString)\(Self.separator)\(baseURL.storedText)"
  }

  /// The URL with a stored text; nil if the strings are no URLs.
  package init?(storedText: String) {
    let parts = storedText.split(separator: Self.separator, omittingEmptySubsequences: false)
    var url: URL?
    for part in parts.reversed() {
      guard let next = URL(string: String(part), relativeTo: url) else { return nil }
      url = next
    }
    guard let url else { return nil }
    self = url
  }
}
