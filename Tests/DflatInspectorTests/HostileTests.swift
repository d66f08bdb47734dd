// Random requests, and hostile values.

import DflatTestSupport
import DflatTools
import Foundation
import SQLiteAccess
import SeededRandom
import Testing

@testable import DflatInspector

@Suite("Hostile input of the inspector")
struct HostileTests {
  @Test("Random requests get no data, and do no harm")
  func requests() throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    var limits = HTTPLimits()
    limits.connections = 1000
    limits.requestSeconds = 1
    try withLibrary { library in
      try withInspector(library, allowsChanges: true, limits: limits) { client, inspector in
        let stranger = Client(port: inspector.port)
        let questions = [
          #"{"ask":"types"}"#, #"{"ask":"rows","type":"library__post"}"#,
          #"{"ask":"query","text":"Post where likes > 1"}"#,
          #"{"ask":"commit","type":"library__post","json":"{\"id\":5}"}"#,
        ]
        // What is right of a request is never all of it, and parts of one kind only are combined: a
        // stranger knows no cookie, and a foreign page cannot send the page's own header.
        let kinds = [
          questions.map { stranger.request("POST", client.path + "ask", body: $0) }
            + [stranger.request("GET", client.path), stranger.request("GET", "/?token=0123")],
          questions.map {
            client.request("POST", client.path + "ask", ["Dflat-Inspector": nil], body: $0)
          },
          questions.map {
            client.request(
              "POST", client.path + "ask",
              ["Host": "evil.example", "Origin": "http://evil.example"], body: $0)
          },
        ].map { $0.map { Array($0.utf8) } }
        let pieces = [
          "\r\n", "\r\n\r\n", "\0", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "..",
          "%2e", "HTTP/1.0", "HTTP/9.9", "GET ", "POST ", " ", "\t", ":", ";", "Cookie: dflat=\r\n",
          "Expect: 100-continue\r\n", "Upgrade: websocket\r\n", "Range: bytes=0-\r\n",
          "Host: 127.0.0.1\r\n", String(repeating: "a", count: 5000),
        ].map { Array($0.utf8) }
        var rest = isLongRun ? 10_000 : 1200
        while rest > 0 {
          // Requests that are cut wait for their end: many of them wait together.
          let requests = (0..<min(rest, 400)).map { _ in
            let corpus = random.pick(kinds)
            var request = random.pick(corpus)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
              random.mutate(&request, corpus: corpus, pieces: pieces)
            }
            return request
          }
          rest -= requests.count
          let sockets = try requests.map { request in
            let socket = try Socket(port: inspector.port)
            socket.send(request)
            socket.endSending()
            return socket
          }
          for (request, socket) in zip(requests, sockets) {
            let reply = Client.reply(socket.readAll())
            let isRefused = reply.status == 0 || reply.status >= 400
            if isRefused, !reply.text.contains("Bread"), !reply.text.contains("library__") {
              continue
            }
            Issue.record(
              "DFLAT_SEED=\(seed): \(reply.status) for \(String(decoding: request, as: UTF8.self))")
            return
          }
        }
        let types = try client.answer(["ask": "types"])["types"] as? [[String: Any]]
        #expect(types?.map { $0["rows"] as? Int } == [2, 3])
      }
    }
  }

  @Test("Hostile texts arrive as they are; large ones are cut, and given whole when asked for")
  func texts() throws {
    try withLibrary { library in
      let hostile = "</script><script>alert(1)</script>\u{0}\u{202E}\u{200B}\"'&<!--"
      let large = String(repeating: "ä", count: 5_000_000)
      let lines = try [["id": 50, "title": hostile], ["id": 51, "title": large]].map {
        String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) + "\n"
      }
      try library.store("Post", lines.joined())
      try withInspector(library) { client, _ in
        func row(_ key: String) throws -> String {
          try #require(
            try client.answer(["ask": "find", "type": "library__post", "key": [key]])["row"]
              as? String)
        }
        func title(_ question: [String: Any]) throws -> Any? {
          let values = try client.answer(question)["values"] as? [String: Any]
          return (values?["$object"] as? [[Any]])?.first { $0[0] as? String == "title" }?[1]
        }
        let first = try row("50")
        let question: [String: Any] = ["ask": "object", "type": "library__post"]
        #expect(try title(question.merging(["row": first]) { $1 }) as? String == hostile)
        let reply = try client.ask(question.merging(["row": first]) { $1 })
        #expect(reply.headers["content-type"] == "application/json")
        let second = try row("51")
        let cut = try #require(
          try title(question.merging(["row": second]) { $1 }) as? [String: Any])
        #expect(cut["$bytes"] as? Int == 10_000_000)
        #expect((cut["$text"] as? String)?.count == 2000)
        let whole = try client.ask(
          ["ask": "value", "type": "library__post", "row": second, "path": ["title"]])
        #expect(whole.text == large && whole.headers["content-type"] == "text/plain; charset=utf-8")
        let json = try client.ask(["ask": "whole", "type": "library__post", "row": second])
        #expect(try json.json()["title"] as? String == large)
        let rows = try client.ask(["ask": "rows", "type": "library__post"])
        #expect(rows.body.count < 100_000)
      }
    }
  }

  @Test("Text that is no UTF-8, and rows that are damaged, are shown or named, and crash nothing")
  func brokenBytes() throws {
    try withLibrary { library in
      try library.store("Post", #"{"id":60,"title":"AAAABBBB"}"# + "\n" + #"{"id":61,"title":"c"}"#)
      let connection = try Connection(path: library.path)
      let rows = try connection.rows("SELECT rowid, p FROM library__post WHERE rowid >= 4")
      var bytes = try #require(rows[0][1].blob)
      let place = try #require(bytes.firstRange(of: Array("AAAA".utf8))).lowerBound
      bytes.replaceSubrange(place..<place + 4, with: [0xFF, 0xC0, 0xED, 0xA0])
      try connection.execute(
        "UPDATE library__post SET p = ? WHERE rowid = ?", [.blob(bytes), rows[0][0]])
      try connection.execute(
        "UPDATE library__post SET p = ? WHERE rowid = ?",
        [.blob([UInt8](repeating: 0xEE, count: 40)), rows[1][0]])
      try connection.close()
      try withInspector(library) { client, _ in
        let shown = try client.ask(["ask": "object", "type": "library__post", "row": "4"])
        #expect(shown.status == 200 && shown.text.contains("\u{FFFD}"), "\(shown.text)")
        let page = try client.ask(["ask": "rows", "type": "library__post"])
        #expect([200, 400].contains(page.status), "\(page.text)")
        if page.status == 400 { #expect(page.text.contains("library__post"), "\(page.text)") }
        #expect(try client.ask(["ask": "types"]).status == 200)
      }
    }
  }
}
