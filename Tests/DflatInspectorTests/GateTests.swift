// Requests that must get nothing.

import DflatTestSupport
import DflatTools
import Foundation
import Testing

@testable import DflatInspector

@Suite("Requests to the inspector")
struct GateTests {
  @Test("The address opens one session, once")
  func token() throws {
    try withLibrary { library in
      try withInspector(library) { client, inspector in
        let stranger = Client(port: inspector.port)
        #expect(client.path.wholeMatch(of: /\/[0-9a-f]{32}\//) != nil)
        #expect(client.cookie.wholeMatch(of: /dflat=[0-9a-f]{64}/) != nil)
        let again = try stranger.get(String(inspector.address.drop { $0 != "?" }), path: "/")
        #expect(again.status == 403 && again.headers["set-cookie"] == nil)
        for uri in ["/", "/?token=", "/?token=" + String(repeating: "0", count: 64), "/?Token=1"] {
          let wrong = try stranger.get(uri, path: "")
          #expect([403, 404].contains(wrong.status), "\(uri): \(wrong.status)")
          #expect(wrong.headers["set-cookie"] == nil)
        }
        let page = try client.get("")
        #expect(page.status == 200 && page.text.hasPrefix("<!doctype html>"))
        #expect(page.body.count <= 100_000)
        #expect(try stranger.get(client.path, path: "").status == 403)
      }
    }
  }

  @Test("The session's cookie is for the page only, and not for scripts and other sites")
  func cookie() throws {
    try withLibrary { library in
      let file = try DataFile.open(library.path)
      let inspector = try Inspector(file, allowsChanges: false)
      defer { inspector.stop() }
      let client = Client(port: inspector.port)
      let opened = try client.get(String(inspector.address.drop { $0 != "?" }), path: "/")
      let cookie = try #require(opened.headers["set-cookie"])
      let path = try #require(opened.headers["location"])
      #expect(cookie.hasSuffix("; Path=\(path); HttpOnly; SameSite=Strict"))
      #expect(opened.body.isEmpty)
    }
  }

  @Test("A page allows its own script and style only, and nothing keeps or frames an answer")
  func headers() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let page = try client.get("")
        let policy = try #require(page.headers["content-security-policy"])
        let nonce = try #require(policy.firstMatch(of: /'nonce-([0-9]+)'/)).1
        #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-\(nonce)'; "))
        #expect(!policy.contains("unsafe"))
        #expect(page.text.contains("<script nonce=\"\(nonce)\">"))
        #expect(try client.get("").headers["content-security-policy"] != policy)
        for reply in [page, try client.ask(["ask": "types"]), try client.get("none")] {
          #expect(reply.headers["cache-control"] == "no-store")
          #expect(reply.headers["x-content-type-options"] == "nosniff")
          #expect(reply.headers["referrer-policy"] == "no-referrer")
          #expect(
            reply.headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
          #expect(reply.headers["access-control-allow-origin"] == nil)
        }
      }
    }
  }

  /// A change of a request that is right, and the status that it must get.
  struct Defect: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let header: String
    let value: String?
    let status: Int
  }

  static let defects = [
    Defect(testDescription: "no cookie", header: "Cookie", value: nil, status: 403),
    Defect(testDescription: "another cookie", header: "Cookie", value: "dflat=0", status: 403),
    Defect(testDescription: "no host", header: "Host", value: nil, status: 400),
    Defect(
      testDescription: "a host that leads here", header: "Host", value: "evil.example", status: 421),
    Defect(testDescription: "another port", header: "Host", value: "127.0.0.1:1", status: 421),
    Defect(testDescription: "no port", header: "Host", value: "127.0.0.1", status: 421),
    Defect(
      testDescription: "a foreign origin", header: "Origin", value: "http://evil.example",
      status: 403),
    Defect(testDescription: "an opaque origin", header: "Origin", value: "null", status: 403),
    Defect(testDescription: "no origin", header: "Origin", value: nil, status: 403),
    Defect(
      testDescription: "another site", header: "Sec-Fetch-Site", value: "cross-site", status: 403),
    Defect(
      testDescription: "another port's page", header: "Sec-Fetch-Site", value: "same-site",
      status: 403),
    Defect(
      testDescription: "without the page's header", header: "Dflat-Inspector", value: nil,
      status: 403),
    Defect(testDescription: "a form", header: "Content-Type", value: "text/plain", status: 403),
    Defect(
      testDescription: "in chunks", header: "Transfer-Encoding", value: "chunked", status: 411),
    Defect(testDescription: "too long", header: "Content-Length", value: "1048577", status: 413),
    Defect(testDescription: "no length", header: "Content-Length", value: "x", status: 400),
  ]

  @Test("A request with one defect gets nothing", arguments: defects)
  func defect(_ defect: Defect) throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let right = try client.ask(["ask": "types"])
        #expect(right.status == 200)
        var changes: [String: String?] = [defect.header: defect.value]
        if defect.header == "Transfer-Encoding" { changes["Content-Length"] = .some(nil) }
        let wrong = try client.ask(["ask": "types"], changes)
        #expect(wrong.status == defect.status, "\(wrong.status) \(wrong.text)")
        #expect(!wrong.text.contains("library"))
      }
    }
  }

  @Test("Headers that are there twice count as wrong")
  func doubledHeaders() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let right = client.request("POST", client.path + "ask", body: "{\"ask\":\"types\"}")
        #expect(try client.exchange(right).status == 200)
        for header in [
          "Host: evil.example", "Origin: http://evil.example", "Cookie: dflat=0",
          "Dflat-Inspector: 1",
        ] {
          let doubled = right.replacing("\r\nHost:", with: "\r\n\(header)\r\nHost:")
          let reply = try client.exchange(doubled)
          #expect([400, 403, 421].contains(reply.status), "\(header): \(reply.status)")
        }
      }
    }
  }

  @Test("No other path, spelled however, leads to anything")
  func paths() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let id = client.path.dropFirst().dropLast()
        let paths = [
          "/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/\(id)", "/\(id)/../\(id)/",
          "/\(id)/%00", "/\(id)/ask/", "/\(id)/ask%00", "/\(id)//ask", "//\(id)/", "/./\(id)/",
          "/\(id)/?x", "/\(id)/#", "/\(id.uppercased())/", "/%\(id)/", "http://127.0.0.1/\(id)/",
          "/\(id)/inspector.html", "/\(id)\\", "/favicon.ico", "*", "",
        ]
        for path in paths {
          let reply = try client.exchange(client.request("GET", path))
          #expect([400, 404, 405].contains(reply.status), "\(path): \(reply.status)")
        }
        for method in [
          "PUT", "DELETE", "OPTIONS", "HEAD", "POST", "TRACE", "CONNECT", "PATCH", "get",
        ] {
          let reply = try client.exchange(client.request(method, client.path))
          #expect(reply.status >= 400, "\(method): \(reply.status)")
        }
        #expect(try client.get("ask").status == 405)
      }
    }
  }

  @Test("Questions that make no sense get no data")
  func questions() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let bodies = [
          "", "x", "[]", "{}", "{\"ask\":1}", "{\"ask\":\"none\"}", "{\"ask\":\"rows\"}",
          "{\"ask\":\"rows\",\"type\":\"library__post\",\"after\":\"1e3\"}",
          "{\"ask\":\"rows\",\"type\":\"sqlite_master\"}",
          "{\"ask\":\"object\",\"type\":\"library__post\",\"row\":\"99999999999999999999\"}",
          "{\"ask\":\"find\",\"type\":\"library__post\",\"key\":[\"1\",\"2\"]}",
          "{\"ask\":\"referrers\",\"type\":\"library__author\",\"row\":\"1\",\"from\":\"library__post\",\"field\":\"title2\"}",
          "{\"ask\":\"value\",\"type\":\"library__post\",\"row\":\"1\",\"path\":[\"none\",\"0\"]}",
          "{\"ask\":\"draft\",\"type\":\"library__post\",\"json\":\"{}\"}",
          "{\"ask\":\"commit\",\"type\":\"library__post\",\"json\":\"{}\"}",
          String(repeating: "[", count: 100_000), "{\"ask\":\"\u{0}\"}",
        ]
        for body in bodies {
          let reply = try client.exchange(client.request("POST", client.path + "ask", body: body))
          #expect((400..<500).contains(reply.status), "\(body.prefix(60)): \(reply.status)")
          #expect(!reply.text.contains("Tea"))
        }
      }
    }
  }

  @Test("Requests that do not go on are ended, and free their connections for others")
  func unfinishedRequests() throws {
    var limits = HTTPLimits()
    limits.connections = 4
    limits.requestSeconds = 1
    try withLibrary { library in
      try withInspector(library, limits: limits) { client, inspector in
        let beginnings = [
          "", "GET", "GET / HTTP/1.1\r\nHost: 127.0",
          client.request("POST", client.path + "ask", ["Content-Length": "1000"], body: "{"),
        ]
        let slow = try beginnings.map { beginning in
          let socket = try Socket(port: inspector.port)
          socket.send(beginning)
          return socket
        }
        // All connections are taken until the slow ones are ended.
        #expect(try client.ask(["ask": "types"]).status == 200)
        for socket in slow {
          #expect(!String(decoding: socket.readAll(), as: UTF8.self).contains("200 OK"))
        }
      }
    }
  }

  @Test("Requests that go on slowly are ended")
  func slowRequests() throws {
    var limits = HTTPLimits()
    limits.requestSeconds = 1
    try withLibrary { library in
      try withInspector(library, limits: limits) { client, inspector in
        for beginning in ["GET /", "GET / HTTP/1.1\r\nX: "] {
          let socket = try Socket(port: inspector.port)
          socket.send(beginning)
          let start = ContinuousClock.now
          while !socket.hasEnded(within: 100), .now < start + .seconds(600) { socket.send("x") }
          #expect(socket.hasEnded(within: 0))
        }
      }
    }
  }

  @Test("Headers have a greatest size")
  func largeHeaders() throws {
    try withLibrary { library in
      try withInspector(library) { client, _ in
        let large = String(repeating: "x", count: 100_000)
        for request in [
          client.request("GET", client.path, ["X-Large": large]),
          client.request("GET", client.path + large), client.request(large, client.path),
        ] {
          let reply = try client.exchange(request)
          #expect(reply.status == 0 || reply.status >= 400, "\(reply.status)")
        }
        #expect(try client.ask(["ask": "types"]).status == 200)
      }
    }
  }
}
