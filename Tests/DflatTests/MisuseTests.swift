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

  @Test("Words in a text that another object has")
  func relatedTexts() async {
    let highlights = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let search = Prose.Review.essay.text.search("run")
      _ = search.highlights(in: Prose.Review.essay.text, of: Prose.Review(id: 1, essay: 2))
    }
    expectMessage(highlights, "essay.text", "another object")
    let snippet = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let search = Prose.Review.essay.text.search("run")
      _ = search.snippet(of: Prose.Review(id: 1, essay: 2), in: Prose.Review.essay.text)
    }
    expectMessage(snippet, "essay.text", "another object")
  }
}
