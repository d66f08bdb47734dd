// The domains of workspaces: one for each, so that all stores in a workspace share it.

import Dflat
import Platform

enum WorkspaceDomains {
  private struct Entry {
    weak var domain: WorkspaceDomain?
  }

  private static let known = Mutex<[ObjectIdentifier: Entry]>([:])

  /// The domain of a workspace. It lives as long as a store uses it.
  static func domain(of workspace: any Workspace) -> WorkspaceDomain {
    // A domain keeps its workspace, so no other one gets its identity.
    let id = workspace.identity
    return known.withLock { known in
      if let domain = known[id]?.domain { return domain }
      let domain = WorkspaceDomain(workspace)
      known = known.filter { $0.value.domain != nil }
      known[id] = Entry(domain: domain)
      return domain
    }
  }
}
