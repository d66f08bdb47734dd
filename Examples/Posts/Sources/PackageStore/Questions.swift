// Questions to the package database, as queries that the compiler checks.

public import Dflat

/// Asks a workspace of any engine.
/// - Parameter found: What was stored.
public func ask(_ dflat: any Workspace, about found: [Package]) async {
  let packages = dflat.fetch(for: Package.self)
  let requirements = dflat.fetch(for: Requirement.self)

  _ = await timed("largest packages") {
    packages.all(limit: .limit(5), orderBy: [Package.installedSize.descending])
  } lines: {
    $0.map(sizeAndName)
  }

  if let section = mostFrequent(found.compactMap(\.section)) {
    _ = await timed("section \(section), largest first") {
      packages.where(
        Package.section == section,
        orderBy: [Package.installedSize.descending, Package.name.ascending])
    } remark: {
      "\($0.count) packages"
    } lines: {
      $0.prefix(3).map(sizeAndName)
    }
  }

  if let maintainer = mostFrequent(found.compactMap(\.maintainer)) {
    _ = await timed("maintained by \(maintainer), above 1 MiB") {
      packages.where(
        Package.maintainer == maintainer && Package.installedSize > 1024,
        orderBy: [Package.name.ascending])
    } remark: {
      "\($0.count) packages"
    } lines: {
      [$0.prefix(6).map(\.name).joined(separator: " ") + ($0.count > 6 ? " …" : "")]
    }
  }

  // Conditions do not look into vectors. Either objects of their own say who requires whom, and the key finds them, or all
  // packages are read and looked through. The first is worth it for names that few depend on.
  let names = found.flatMap { $0.dependencies.flatMap(\.names) }
  guard let target = mostFrequent(names, atMost: max(1, found.count / 10)) else { return }
  let dependents = await timed("depending on \(target), by key of Requirement") {
    let names = requirements.where(Requirement.target == target).map(\.package)
    return packages.where(Package.name.in(names), orderBy: [Package.name.ascending])
  } remark: {
    "\($0.count) packages"
  }
  _ = await timed("the same, looking through the dependencies of all packages") {
    packages.all(orderBy: [Package.name.ascending]).filter {
      $0.dependencies.contains { $0.names.contains(target) }
    }
  } remark: {
    "\($0.count) packages, \($0 == Array(dependents) ? "the same ones" : "others!")"
  }
}

private func sizeAndName(_ package: Package) -> String {
  let size = package.installedSize.map { "\($0 / 1024) MiB" } ?? "unknown"
  return "\(size.padded(to: 10))  \(package.name) \(package.version ?? "")"
}

private func mostFrequent(_ names: [String], atMost limit: Int = .max) -> String? {
  let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +).filter { $0.value <= limit }
  return counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
}
