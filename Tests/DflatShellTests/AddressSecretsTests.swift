// Passwords of addresses: no message shows them, wherever and however the address was typed.

import DflatServerTools
import DflatTestSupport
import DflatTools
import Foundation
import PostgresTestSupport
import Testing

@testable import DflatShell

@Suite("Passwords of addresses")
struct AddressSecretsTests {
  /// Addresses that have `SECRET` in each part of their password.
  private static let addresses = [
    "postgresql://u:SECRET@h/app", "postgres://u:SECRET@h:5432/app#other",
    "POSTGRESQL://u:SECRET@h/app", "Postgres://u:SECRET@h", "postgresql:/u:SECRET@h/app",
    "postgresql:u:SECRET@h/app", "postgresql:///u:SECRET@h/app", "  postgresql://u:SECRET@h/app",
    "postgesql://u:SECRET@h/app", "postgresql://u:SECRET/SECRET@h/app",
    "postgresql://u:SECRET?SECRET@h/app", "postgresql://u:SECRET@SECRET@h/app",
    "postgresql://u:SECRET SECRET@h/app", "postgresql://u:\u{301}SECRET%zz@h/app",
    "postgresql://u@v:SECRET@h/app", "postgresql://:SECRET@/", "postgresql://u:SECRET@h,g:1/app",
    "postgresql://h/app?password=SECRET", "postgresql://h/app?user=u&password=SECRET#other",
    "postgresql://h/app?PASSWORD=SECRET&sslpassword=SECRET&user=u",
    "postgresql://h/app?pass%77ord=SECRET&user=a@b", "postgresql:///?password=SECRET@SECRET",
    "host=h password=SECRET", "password=SECRET host=h", "host = h password = 'SECRET SECRET'",
    " host=h password='SECRET\\' SECRET' user=u", "host=h PASSWORD=SECRET\\ SECRET",
    "host=h sslpassword=SECRET password='SECRET", "postgres:/u:SECRET\"SECRET@h/app",
    "postgres:/u:SECRET\\SECRET@h/app",
  ]

  @Test("No message has the password of an address", arguments: addresses)
  func messages(address: String) throws {
    try withBlog { file in
      let folder = try makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      let path = file.path
      for arguments in [
        [address], [address, "info"], ["help", address], ["info", path, address],
        ["info", address, "--json"], ["info", path, address, "--json"],
        ["info", "--schma=\(address)", path], ["info", "--json=\(address)", path],
        ["info", path, "--schema", address], ["info", path, "--schema=\(address)"],
        ["repair", path, "-o", address], ["repair", path, "--output=\(address)"],
        ["repair", address], ["export", path, "Post", "--output", address],
        ["export", path, address], ["export", path, "Post", "--format", address],
        ["import", path, "Post", address, "--yes"], ["import", path, address, "-", "--yes"],
        ["diff", path, path, address], ["copy", path, path, address, "--dry-run"],
        ["get", path, "Post", address, "1"], ["query", path, address],
        ["query", path, "Post", "--select", address], ["schema", path, address],
        ["dictionary", path, "get", address], ["dictionary", path, "set", address, "x"],
        ["dictionary", path, "set", "x", address, "--dry-run"], ["dictionary", path, address],
        ["dictionary", path, "set", "x", address, "--type", "int"], ["backup", path, address],
        ["restore", path, address], ["check", path, "--limit", address], ["vacuum", address],
        ["completions", address], ["prepare", path, "--from", address],
      ] {
        let result = run(arguments)
        #expect(!(result.errors + result.output).contains("SECRET"), "\(arguments): \(result)")
      }
    }
  }

  @Test("What is no address that can be read is no file, either", arguments: addresses)
  func stores(address: String) throws {
    if DataServer.isAddress(address) { return }
    try withBlog { file in
      for arguments in [
        ["info"], ["check"], ["serve"], ["diff", file.path], ["copy", file.path],
        ["backup", file.path], ["restore", file.path], ["repair", file.path, "-o"],
        ["export", file.path, "Post", "--output"], ["import", file.path, "Post"],
      ] {
        let result = run(arguments + [address], answer: "n")
        #expect(result.status == 64, "\(arguments): \(result)")
        #expect(result.errors.contains("write postgresql://USER@HOST/DATABASE"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: address))
      }
    }
  }

  @Test(
    "What is left of an address without its password is an address",
    arguments: [
      ("postgresql://u:SECRET@h/app", "postgresql://u@h/app"),
      ("postgresql://u:u@u/u", "postgresql://u@u/u"),
      ("postgres://u:SECRET@h:1,g:2/a%20b", "postgres://u@h:1,g:2/a%20b"),
      ("postgresql://u@[::1]:5432/a?user=a@b", "postgresql://u@[::1]:5432/a?user=a@b"),
      ("postgresql://h:5432/a?user=a@b:c", "postgresql://h:5432/a?user=a@b:c"),
      ("postgresql:///a?password=x&host=/tmp", "postgresql:///a?host=/tmp"),
      ("postgresql:///a?host=/tmp&password=x", "postgresql:///a?host=/tmp"),
      ("postgresql:///a?password=x&sslpassword=y", "postgresql:///a"),
      ("postgresql://u:SECRET@h/a?password=x&user=v", "postgresql://u@h/a?user=v"),
      ("host=h password=SECRET user=u", "host=h user=u"),
      ("User where password='a b' limit x", "User where password='a b' limit x"),
      ("notes/2026:1@home.db", "notes/2026:1@home.db"), ("user=5.db", "user=5.db"),
    ])
  func shown(address: String, shown: String) {
    #expect(AddressSecrets(in: [address]).removed(from: address) == shown)
    #expect(AddressSecrets(in: [address]).isEmpty == (address == shown))
  }

  @Test("An address that is printed can be given back")
  func givenBack() throws {
    let server = try PlainConnection()
    let name = "We ird/DB#1?%" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
    try server.run("CREATE DATABASE \"\(name)\"")
    defer { _ = try? server.run("DROP DATABASE \"\(name)\" WITH (FORCE)") }
    let escaped = try #require(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
    let address =
      try TestCluster.shared().url.replacing("/postgres?", with: "/\(escaped)?")
      .setting("password", to: "x") + "#We ird"
    try withBlog { file in
      #expect(run(["copy", file.path, address, "--yes"]).status == 0)
    }
    let first = try DataServer.open(address)
    defer { first.close() }
    #expect(!first.path.contains("password"))
    let second = try DataServer.open(first.path)
    defer { second.close() }
    #expect(second.path == first.path && second.types.map(\.name) == ["Post"])
  }
}
