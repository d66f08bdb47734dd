// From dpkg's text to the objects of package.fbs and requirement.fbs.

import DpkgStatus
import Foundation

/// Reads a file in dpkg's status format. What is wrong with it is told with the number of the line.
public func readPackages(_ file: String) throws -> [Package] {
  let bytes: Data
  do {
    bytes = try Data(contentsOf: URL(filePath: file))
  } catch {
    throw Failure(
      "\(file) cannot be read (\(error.localizedDescription)); "
        + "name another file in dpkg's status format")
  }
  do {
    var lines: [Package.ID: Int] = [:]
    return try Stanza.parse(bytes).map { stanza in
      let package = try Package(stanza)
      if let line = lines.updateValue(stanza.line, forKey: package.id) {
        throw DpkgStatusError(
          line: stanza.line,
          "\(package.name) for \(package.architecture) is there already, in line \(line)")
      }
      return package
    }
  } catch let error as DpkgStatusError {
    throw Failure("\(file), \(error)")
  }
}

extension Package {
  init(_ stanza: Stanza) throws {
    guard let name = stanza["Package"], !name.value.isEmpty else {
      throw DpkgStatusError(line: stanza.line, "a stanza without Package")
    }
    var references: [[PackageReference]] = []
    for field in [stanza["Pre-Depends"], stanza["Depends"]] {
      references += try field?.references() ?? []
    }
    self.init(
      name: name.value, architecture: stanza["Architecture"]?.value ?? "",
      version: stanza["Version"]?.value, section: stanza["Section"]?.value,
      installedSize: try stanza["Installed-Size"]?.kibibytes(),
      maintainer: stanza["Maintainer"]?.value, selection: try Selection(stanza["Status"]),
      dependencies: references.map(Dependency.init), description: stanza["Description"]?.value)
  }
}

extension Dependency {
  /// One dependency: the first alternative, with the others inside it.
  init(_ alternatives: [PackageReference]) {
    self.init(
      name: alternatives[0].name, relation: Relation(alternatives[0].relation),
      version: alternatives[0].version,
      alternatives: alternatives.dropFirst().map { Dependency([$0]) })
  }

  /// All names that would do.
  var names: [String] { ([self] + alternatives).compactMap(\.name) }
}

extension Relation {
  init(_ symbol: String?) {
    switch symbol {
    case "<<": self = .earlier
    case "<=": self = .earlierOrEqual
    case "=": self = .exactly
    case ">=": self = .laterOrEqual
    case ">>": self = .later
    default: self = .any
    }
  }
}

extension Selection {
  /// `install ok installed`: the first word is what is wanted. Lists of packages from elsewhere have no such field.
  init(_ field: Stanza.Field?) throws {
    switch field?.value.split(separator: " ").first {
    case nil, "unknown": self = .unknown
    case "install": self = .install
    case "hold": self = .hold
    case "deinstall": self = .deinstall
    case "purge": self = .purge
    case let word?:
      throw DpkgStatusError(
        line: field?.line ?? 0, "Status: '\(word)' is nothing that can be wanted")
    }
  }
}

extension Stanza.Field {
  /// The value as a size in KiB.
  func kibibytes() throws -> Int64 {
    guard let number = Int64(value), number >= 0 else {
      throw DpkgStatusError(line: line, "\(name): '\(value)' is not a size in KiB")
    }
    return number
  }
}
