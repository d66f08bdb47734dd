// When an object can be changed as it was fetched, without a look-up, and when it must be looked up
// again.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

@Suite("Rows that are known to be current")
struct CurrentRowTests {
  @Test(
    "An object that was changed through another version of the type is looked up",
    arguments: TestEngine.all)
  func otherVersion(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Kit.Item.self]) { txn in
        for name in ["a", "b"] {
          _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(Kit.Item(name: name, serial: 1)))
        }
      }
      let items = Array(workspace.dflat.fetch(for: Kit.Item.self).all())
      let versions = Array(workspace.dflat.fetch(for: KIT.Item.self).all())
      workspace.together(3, of: [Kit.Item.self, KIT.Item.self]) { number, txn in
        switch number {
        case 0:
          guard let request = KIT.ItemChangeRequest.changeRequest(versions[0]) else { return }
          request.extra = "x"
          txn.try(submit: request)
        case 1:
          guard let request = KIT.ItemChangeRequest.changeRequest(versions[1]) else { return }
          request.extra = "y"
          txn.try(submit: request)
        default:
          guard let request = Kit.ItemChangeRequest.changeRequest(items[1]) else { return }
          request.big = 7
          txn.try(submit: request)
        }
      }
      let stored = workspace.dflat.fetch(for: KIT.Item.self).all()
      #expect(stored.map(\.extra) == ["x", "y"])
      #expect(workspace.dflat.fetch(for: Kit.Item.self).all()[1].big == 7)
    }
  }

  @Test(
    "The state that a transaction relies on may be committed, with a new generation, before it writes",
    arguments: TestEngine.withOwnCommits)
  func committedMeanwhile(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Kit.Item.self]) { txn in
        for name in ["a", "b"] {
          _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(Kit.Item(name: name, serial: 1)))
        }
      }
      let versions = Array(workspace.dflat.fetch(for: KIT.Item.self).all())
      let isCommitted = DispatchSemaphore(value: 0)
      workspace.together(2, of: [Kit.Item.self, KIT.Item.self]) { number, txn in
        guard let request = KIT.ItemChangeRequest.changeRequest(versions[number]) else { return }
        // No other transaction writes in the meantime, so the alarm fires.
        if number == 1 { isCommitted.wait() }
        request.extra = "x"
        txn.try(submit: request)
      } _: { number, succeeded in
        #expect(succeeded)
        if number == 0 { isCommitted.signal() }
      }
      #expect(workspace.dflat.fetch(for: KIT.Item.self).all().map(\.extra) == ["x", "x"])
    }
  }
}
