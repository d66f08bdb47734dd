// The contents of Depends and Pre-Depends: `libc6 (>= 2.36), mawk | gawk:any`.

/// A package that is named by another, one way to satisfy a dependency.
public struct PackageReference: Equatable, Sendable {
  /// The name of the package.
  public var name: String
  /// `<<`, `<=`, `=`, `>=` or `>>`; nil if any version will do.
  public var relation: String?
  /// What `relation` compares with.
  public var version: String?

  /// Any version will do, unless relation and version are given.
  public init(name: String, relation: String? = nil, version: String? = nil) {
    self.name = name
    self.relation = relation
    self.version = version
  }
}

extension Stanza.Field {
  /// The field as a list of dependencies: all of the outer list are needed, one of each inner list is enough.
  public func references() throws(DpkgStatusError) -> [[PackageReference]] {
    var result: [[PackageReference]] = []
    if value.isEmpty { return result }
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
    let open = text.firstIndex(of: "(") ?? text.endIndex
    // Behind a colon stands an architecture, which does not matter here.
    let parts = text[..<open].trimmed.split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let package = parts.first, parts.allSatisfy(\.isPackageName) else { throw wrong }
    if open == text.endIndex { return PackageReference(name: String(package)) }
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

extension Substring {
  fileprivate var isPackageName: Bool {
    !isEmpty && allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || "+-.".contains($0) }
  }
}
