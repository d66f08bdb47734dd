// What is done for a client that does not wait for its answer.

import DflatTestSupport
import DflatTools
import Dispatch
import Foundation
import Platform
import Testing

@testable import DflatInspector

@Suite("Clients that do not wait for an answer")
struct AskerTests {
  /// Answers once the asker is gone.
  private final class Patient: HTTPServer.Handler {
    let isAsked = DispatchSemaphore(value: 0)
    let isLeft = DispatchSemaphore(value: 0)

    func refusal(of request: HTTPRequest) -> HTTPResponse? { nil }

    func answer(_ request: HTTPRequest, for asker: Asker, _ reply: @escaping HTTPServer.Reply) {
      asker.whenGone { [isLeft] in
        reply(HTTPResponse(503, text: "late"))
        isLeft.signal()
      }
      isAsked.signal()
    }
  }

  @Test("A client that closes its connection is gone, and its connection is free for others")
  func closing() throws {
    var limits = HTTPLimits()
    limits.connections = 2
    let handler = Patient()
    let server = HTTPServer(handler, limits: limits)
    let port = try #require(server.start())
    defer { server.stop() }
    for _ in 0..<3 {
      var sockets: [Socket] = []
      for _ in 0..<2 {
        let socket = try Socket(port: port)
        socket.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        handler.isAsked.expect("the question")
        sockets.append(socket)
      }
      sockets = []
      for _ in 0..<2 { handler.isLeft.expect("the end") }
    }
  }

  @Test("A server that ends waits for nobody")
  func stopping() throws {
    let handler = Patient()
    let server = HTTPServer(handler)
    let port = try #require(server.start())
    let socket = try Socket(port: port)
    socket.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    handler.isAsked.expect("the question")
    server.stop()
    handler.isLeft.expect("the end")
  }

  @Test("What happens once an asker is gone happens once, also if it was gone before")
  func actions() {
    let count = Mutex(0)
    let asker = Asker()
    asker.whenGone { count.withLock { $0 += 1 } }
    #expect(count.withLock { $0 } == 0 && !asker.isGone)
    asker.leave()
    asker.leave()
    #expect(count.withLock { $0 } == 1 && asker.isGone)
    asker.whenGone { count.withLock { $0 += 10 } }
    #expect(count.withLock { $0 } == 11)
  }

  /// The status of the answer to a question of the page.
  private func status(_ answers: Answers, _ json: String, for asker: Asker) -> UInt32 {
    let (path, cookie) = answers.gate.session
    let host = "127.0.0.1:0"
    let request = HTTPRequest(
      method: "POST", uri: path + "ask",
      headers: [
        ("host", host), ("origin", "http://\(host)"), ("cookie", "dflat=\(cookie)"),
        ("content-type", "application/json"), ("dflat-inspector", "1"),
      ], body: Data(json.utf8))
    let isDone = DispatchSemaphore(value: 0)
    let status = Mutex<UInt32>(0)
    answers.answer(request, for: asker) { response in
      status.withLock { $0 = response.status }
      isDone.signal()
    }
    isDone.expect("the answer")
    return status.withLock { $0 }
  }

  @Test("A query ends when nobody waits for it, even if it finds no object")
  func queries() throws {
    try withLibrary { library in
      try library.store(posts: 100..<3000)
      let file = try DataFile.open(library.path)
      defer { file.close() }
      let answers = Answers(file, allowsChanges: false)
      defer { answers.stop() }
      let query = #"{"ask":"query","text":"Post where title like '%none'"}"#
      let gone = Asker()
      gone.leave()
      #expect(status(answers, query, for: gone) == 503)
      #expect(status(answers, query, for: Asker()) == 200)
      #expect(file.problems.isEmpty)
    }
  }

  @Test("Long questions leave room for others, and one too many is refused as busy")
  func busy() throws {
    try withLibrary { library in
      let file = try DataFile.open(library.path, readerLimit: 4)
      defer { file.close() }
      let answers = Answers(file, allowsChanges: false, patience: .milliseconds(200))
      defer { answers.stop() }
      let query = #"{"ask":"query","text":"Post"}"#
      let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let patient = LongQuestions(patience: .seconds(3600))
      for long in [answers.long, patient] {
        for _ in 0..<LongQuestions.limit {
          // One that does not begin in time is asked again.
          @Sendable func begin() {
            long.begin(for: Asker(), orElse: { _ in begin() }) {
              hasBegun.signal()
              mayEnd.expect("the end")
            }
          }
          begin()
        }
        for _ in 0..<LongQuestions.limit { hasBegun.expect("a question") }
      }
      #expect(status(answers, query, for: Asker()) == 503)
      #expect(status(answers, #"{"ask":"types"}"#, for: Asker()) == 200)
      // One that waits is given up with its client.
      let asker = Asker()
      let refused = Mutex<UInt32>(0)
      patient.begin(for: asker, orElse: { error in refused.withLock { $0 = error.status } }) {
        Issue.record("it has begun")
      }
      asker.leave()
      #expect(refused.withLock { $0 } == 503)
      for _ in 0..<2 * LongQuestions.limit { mayEnd.signal() }
    }
  }

  @Test("A question about what happens ends when nobody waits for it")
  func live() throws {
    try withLibrary { library in
      let file = try DataFile.open(library.path)
      defer { file.close() }
      let answers = Answers(file, allowsChanges: false)
      defer { answers.stop() }
      let gone = Asker()
      gone.leave()
      #expect(status(answers, #"{"ask":"live","since":1000}"#, for: gone) == 200)
    }
  }
}
