// The contents of Depends and Pre-Depends: `libc6 (>= 2.36), mawk | gawk:any`.

/// A package that is named by another, one way to satisfy a dependency.
public struct PackageReference: Equatable, Sendable {
  public var name: String
  /// `<<`, `<=`, `=`, `>=` or `>>`; nil if any version will do.
  public var relation: String?
  public var version: String?
}

extension Stanza.Field {
  /// The field as a list of dependencies: all of the outer list are needed, one of each inner list is enough.
  public func references() throws(DpkgStatusError) -> [[PackageReference]] {
    var result: [[PackageReference]] = []
    for item in value.split(separator: ",", omittingEmptySubsequences: false) {
      var alternatives: [PackageReference] = []
      for text in item.split(separator: "|", omittingEmptySubsequences: false) {
        alternatives.append(try reference(text.trimmed))
      }
      result.append(alternatives)
    }
    return result
  }

  private func reference(_ text: Substring) throws(DpkgStatusError) -> PackageReference {
    let wrong = DpkgStatusError(
      line: line, "\(name): '\(text)' is not a package name with perhaps a (relation version)")
    // Behind a colon stands an architecture, which does not matter here.
    let end = text.firstIndex { $0 == ":" || $0 == "(" || $0.isWhitespace } ?? text.endIndex
    let package = text[..<end]
    guard !package.isEmpty, package.allSatisfy({ $0.isLetter || $0.isNumber || "+-.".contains($0) })
    else { throw wrong }
    guard let open = text.firstIndex(of: "(") else {
      let rest = text[end...]
      guard rest.isEmpty || rest.first == ":" && !rest.contains(where: \.isWhitespace) else {
        throw wrong
      }
      return PackageReference(name: String(package))
    }
    guard text.last == ")" else { throw wrong }
    let inside = text[text.index(after: open)...].dropLast().trimmed
    let relation = inside.prefix { "<=>".contains($0) }
    let version = inside.dropFirst(relation.count).trimmed
    guard ["<<", "<=", "=", ">=", ">>"].contains(relation), !version.isEmpty,
      !version.contains(where: \.isWhitespace)
    else { throw wrong }
    return PackageReference(
      name: String(package), relation: String(relation), version: String(version))
  }
}
