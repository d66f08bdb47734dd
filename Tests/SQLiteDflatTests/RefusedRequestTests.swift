// What debug builds tell of requests that `try(submit:)` gives up.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Synchronization
import Testing

#if DEBUG
  @Suite("Requests for which try(submit:) gives nil")
  struct RefusedRequestTests {
    private typealias Request = Blog.PostChangeRequest

    /// What the error hook hears of a transaction over one stored post with a photo.
    private func told(
      _ body: @escaping (any TransactionContext) throws -> Void
    ) throws -> [any Error] {
      try withTemporaryWorkspace { workspace in
        try workspace.store([post(1, photo: "a")])
        let errors = Mutex<[any Error]>([])
        workspace.dflat.errorHandler = { error in errors.withLock { $0.append(error) } }
        try workspace.write([Post.self]) { try body($0) }
        return errors.withLock { $0 }
      }
    }

    @Test("Keys and unique values that are taken are told with their names and values")
    func taken() throws {
      let errors = try told { txn in
        #expect(txn.try(submit: Request.creationRequest(post(1))) == nil)
        #expect(txn.try(submit: Request.creationRequest(post(2, photo: "a"))) == nil)
        #expect(txn.try(submit: Request.creationRequest(post(3))) != nil)
      }
      let reasons = errors.compactMap { ($0 as? RefusedRequest)?.reason }
      #expect(
        reasons.count == errors.count && reasons.map(\.cause) == [.alreadyExists, .alreadyExists])
      #expect(reasons.map(\.key) == [#"site: "s", number: 1"#, #"attachment.as(Photo).path: "a""#])
      let text = errors.first.map { "\($0)" } ?? ""
      #expect(text.hasPrefix("try(submit:) gave nil for a request: alreadyExists: "), "\(text)")
    }

    @Test("What submit throws, and what comes after abort(), is not told")
    func thrown() throws {
      let errors = try told { txn in
        #expect(throws: TransactionError.objectAlreadyExists) {
          try txn.submit(Request.creationRequest(post(1)))
        }
        txn.abort()
        #expect(txn.try(submit: Request.creationRequest(post(4))) == nil)
      }
      #expect(errors.isEmpty, "\(errors)")
    }
  }
#endif
