// Programmer errors that stop the program before there is a workspace.

import Dflat
import DflatTestSupport
import Testing

@Suite("Misuse without a workspace")
struct MisuseTests {
  @Test("Requests that need a look-up, outside of a transaction")
  func outside() async {
    let change = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Blog.PostChangeRequest.changeRequest(Post(site: "", number: 1)) }
    expectMessage(change, "changeRequest", "outside of a transaction")
    let upsert = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Blog.PostChangeRequest.upsertRequest(Post(site: "", number: 1)) }
    expectMessage(upsert, "upsertRequest", "outside of a transaction")
    let deletion = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = Blog.PostChangeRequest.deletionRequest(Post(site: "", number: 1)) }
    expectMessage(deletion, "deletionRequest", "outside of a transaction")
  }
}
