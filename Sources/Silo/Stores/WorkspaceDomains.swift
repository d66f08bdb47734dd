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
    // A workspace that lives has an address of its own, and a domain keeps its workspace.
    let id = ObjectIdentifier(workspace._core)
    return known.withLock { known in
      if let domain = known[id]?.domain { return domain }
      let domain = WorkspaceDomain(workspace)
      known = known.filter { $0.value.domain != nil }
      known[id] = Entry(domain: domain)
      return domain
    }
  }
}
