// Transport encryption: a server with a certificate, and clients that check it.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Transport encryption", .endsSometime)
struct TLSTests {
  /// A server that takes encrypted connections only, on a port of this machine.
  private struct SecureServer {
    let cluster: TestCluster
    let port: UInt16
    /// Where the certificates are.
    let directory: String

    var data: String { "\(cluster.directory ?? "")/data" }
    /// The connection string of the tests themselves, which needs no certificate.
    var plainURL: String { "\(cluster.url)&port=\(port)" }

    /// A connection string that asks for proof.
    func url(root: String, host: String = "localhost", mode: String = "verify-full") -> String {
      "postgresql://dflat@\(host):\(port)/postgres?hostaddr=127.0.0.1&sslmode=\(mode)"
        + "&sslrootcert=\(directory)/\(root).crt"
    }

    init() throws {
      port = try TestCluster.freePort()
      cluster = try .another(settings: ["listen_addresses=127.0.0.1", "port=\(port)"])
      directory = "\(cluster.directory ?? "")/certificates"
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false)
      for root in ["right", "wrong"] {
        try openssl(
          "req -x509 -nodes -days 3650 -subj /CN=\(root) -keyout \(root).key -out \(root).crt")
        try openssl("req -nodes -subj /CN=localhost -keyout \(root)-server.key -out request")
        try openssl(
          "x509 -req -days 3650 -in request -CA \(root).crt -CAkey \(root).key -CAcreateserial "
            + "-out \(root)-server.crt")
      }
      try "local all all trust\nhostssl all all 127.0.0.1/32 trust\n".write(
        toFile: "\(data)/pg_hba.conf", atomically: false, encoding: .utf8)
      try PlainConnection(plainURL).run("ALTER SYSTEM SET ssl = on")
      try show("right")
    }

    private func openssl(_ arguments: String) throws {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.currentDirectoryURL = URL(filePath: directory)
      let words = arguments.split(separator: " ").map(String.init)
      let isRequest = words[0] == "req"
      process.arguments =
        ["openssl"] + words
        + (isRequest ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"] : [])
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "openssl \(arguments)")
    }

    /// Has the server show a certificate that a root has signed.
    func show(_ root: String) throws {
      let owner = try FileManager.default.attributesOfItem(atPath: data)
      for kind in ["key", "crt"] {
        let path = "\(data)/server.\(kind)"
        try Data(contentsOf: URL(filePath: "\(directory)/\(root)-server.\(kind)")).write(
          to: URL(filePath: path))
        try FileManager.default.setAttributes(
          [
            .posixPermissions: 0o600,
            .ownerAccountID: owner[.ownerAccountID] ?? 0,
            .groupOwnerAccountID: owner[.groupOwnerAccountID] ?? 0,
          ], ofItemAtPath: path)
      }
      try PlainConnection(plainURL).run("SELECT pg_reload_conf()")
      // New connections get the certificate a moment later.
      try #require(eventually { (try? PlainConnection(url(root: root))) != nil })
    }

    /// How often a client has refused the server's certificate.
    var refusals: Int {
      get throws {
        try String(contentsOfFile: "\(cluster.directory ?? "")/server.log", encoding: .utf8)
          .split(separator: "\n").count { $0.contains("could not accept SSL connection") }
      }
    }
  }

  private func refusal(_ url: String) async -> StorageError? {
    await #expect(throws: StorageError.self) { _ = try await PostgresWorkspace.open(url) }
  }

  @Test("With the right root all connections are encrypted; otherwise the error says what is wrong")
  func opening() async throws {
    let server = try SecureServer()
    defer { server.cluster.end() }
    let dflat = try await PostgresWorkspace.open(server.url(root: "right"))
    let live = Log<Int>()
    let subscription = dflat.subscribe(fetchedResult: dflat.fetch(for: Note.self).all()) {
      live.add($0.count)
    }
    try await increment(1, in: dflat)
    #expect(eventually { live.events.last == 1 })
    #expect(dflat.fetch(for: Note.self).all().count == 1)
    let encrypted = try PlainConnection(server.plainURL).run(
      "SELECT bool_and(ssl), count(*) > 2 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        + "WHERE application_name = 'dflat'")
    #expect(encrypted == [["t", "t"]])
    subscription.cancel()
    await dflat.shutdown()

    let before = try server.refusals
    let wrong = await refusal(server.url(root: "wrong"))
    #expect(wrong?.cause == .cannotOpen)
    #expect(wrong?.message.contains("certificate verify failed") == true, "\(wrong as Any)")
    #expect(wrong?.recoverySuggestion?.contains("sslrootcert") == true, "\(wrong as Any)")
    #expect(try eventually { try server.refusals == before + 1 }, "one try")

    let otherHost = await refusal(server.url(root: "right", host: "other.example"))
    #expect(otherHost?.cause == .cannotOpen)
    #expect(otherHost?.message.contains("does not match host name") == true, "\(otherHost as Any)")
    #expect(otherHost?.recoverySuggestion?.contains("sslrootcert") == true)

    let missing = await refusal(server.url(root: "missing"))
    #expect(missing?.message.contains("does not exist") == true, "\(missing as Any)")
    #expect(missing?.recoverySuggestion?.contains("sslrootcert") == true)

    let open = await refusal(server.url(root: "right", mode: "disable"))
    #expect(open?.message.contains("no encryption") == true, "\(open as Any)")
    #expect(open?.recoverySuggestion?.contains("sslmode") == true, "\(open as Any)")
  }

  @Test("A certificate that is wrong from now on is no storm of tries, and the right one helps")
  func changedCertificate() async throws {
    let server = try SecureServer()
    defer { server.cluster.end() }
    var configuration = PostgresWorkspace.Configuration()
    // So long a server that does not answer is tried again.
    configuration.reconnectTimeout = .seconds(120)
    let dflat = try await PostgresWorkspace.open(
      server.url(root: "right"), configuration: configuration)
    dflat.errorHandler = { _ in }
    try await increment(1, in: dflat)
    try server.show("wrong")
    let before = try server.refusals
    let start = ContinuousClock.now
    try PlainConnection(server.plainURL).run(
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        + "WHERE application_name = 'dflat'")
    let error = await #expect(throws: StorageError.self) {
      try await dflat.write(Note.self, attempts: 1000) { try $0.upsert(Note(key: 1)) }
    }
    #expect(error?.cause == .cannotOpen, "\(error as Any)")
    #expect(ContinuousClock.now - start < .seconds(60))
    #expect(try server.refusals - before <= mostTries(within: ContinuousClock.now - start))
    try server.show("right")
    try await increment(1, in: dflat)
    #expect(dflat.fetch(for: Note.self).all().first?.text?.count == 2)
    await dflat.shutdown()
  }
}
