// Storing and changing packages, in a workspace of any engine.

public import Dflat

/// Stores the packages, and who requires whom, all or nothing.
/// - Returns: The number of requirements.
public func store(_ packages: [Package], in dflat: any Workspace) async throws -> Int {
  let requirements = packages.flatMap { package in
    Set(package.dependencies.flatMap(\.names)).sorted().map {
      Requirement(target: $0, package: package.name, architecture: package.architecture)
    }
  }
  let committed = await dflat.performChanges([Package.self, Requirement.self]) { txn in
    do {
      for package in packages {
        try txn.submit(PackageChangeRequest.creationRequest(package))
      }
      for requirement in requirements {
        try txn.submit(RequirementChangeRequest.creationRequest(requirement))
      }
    } catch {
      print("error: \(error)")
      txn.abort()
    }
  }
  guard committed else { throw Failure("the packages could not be stored") }
  return requirements.count
}

/// Changes the five largest packages.
/// - Returns: How many were changed.
public func holdLargest(in dflat: any Workspace) async throws -> Int {
  let largest = dflat.fetch(for: Package.self).where(
    Package.selection != .hold && Package.installedSize.isNotNull, limit: .limit(5),
    orderBy: [Package.installedSize.descending])
  let committed = await dflat.performChanges([Package.self]) { txn in
    for package in largest {
      guard let request = PackageChangeRequest.changeRequest(package) else { continue }
      request.selection = .hold
      txn.try(submit: request)
    }
  }
  guard committed else { throw Failure("the packages could not be changed") }
  return largest.count
}
