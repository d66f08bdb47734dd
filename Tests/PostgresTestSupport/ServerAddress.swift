// Where a connection string leads.

import CPostgres
import Platform

/// The place of the server that a connection string names.
struct ServerAddress: Sendable {
  /// A directory with the server's socket, or the name or number of a machine.
  let host: String
  let port: String

  /// - Throws: `ClusterError` if it is no connection string.
  init(_ url: String) throws {
    guard let options = PQconninfoParse(url, nil) else {
      throw ClusterError("\(url) is no connection string")
    }
    defer { PQconninfoFree(options) }
    var settings: [String: String] = [:]
    var place = options
    while let keyword = place.pointee.keyword {
      if let value = place.pointee.val {
        settings[String(cString: keyword)] = String(cString: value)
      }
      place += 1
    }
    host = settings["hostaddr"] ?? settings["host"] ?? "/var/run/postgresql"
    port = settings["port"] ?? "5432"
  }

  /// The path of the server's socket; nil for a machine.
  private var path: String? { host.hasPrefix("/") ? "\(host)/.s.PGSQL.\(port)" : nil }

  /// Makes a connection.
  /// - Throws: `ClusterError` if that is not possible.
  func connect() throws -> Int32 {
    if let path { return try ServerProxy.socket(connectedTo: path) }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0, let first = found else {
      throw ClusterError("there is no machine \(host)")
    }
    defer { freeaddrinfo(first) }
    var next: UnsafeMutablePointer<addrinfo>? = first
    while let address = next?.pointee {
      let handle = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
      if Platform.connect(handle, address.ai_addr, address.ai_addrlen) == 0 {
        // Otherwise the system holds small messages back.
        var isOn: Int32 = 1
        setsockopt(
          handle, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return handle
      }
      close(handle)
      next = address.ai_next
    }
    throw ClusterError("there is no server at \(host), port \(port)")
  }
}

extension String {
  /// A connection string with another value of a setting.
  public func setting(_ keyword: String, to value: String) -> String {
    guard contains("://") else { return "\(self) \(keyword)='\(value)'" }
    return "\(self)\(contains("?") ? "&" : "?")\(keyword)=\(value)"
  }
}
