// File names for SQLite.
//
// A plain name is passed to SQLite unchanged, unless it has a prefix that SQLite would interpret.
// If a setting is needed, the name becomes a URI in which all bytes except the safe ones are
// percent-encoded.

import Platform

extension Connection {
  /// The path of a file without symbolic links; nil if there is no such file.
  package static func resolvedPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The name of an ordinary file: `:memory:` and `file:x` become names in the current directory.
  static func plain(_ path: String) -> String {
    path.hasPrefix(":") || path.hasPrefix("file:") ? "./" + path : path
  }

  /// The URI of a file, with settings.
  static func uri(path: String, query: String) -> String {
    // The authority is empty: otherwise a path that begins with two slashes would name a host.
    (path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:")
      + percentEncoded(path) + "?" + query
  }

  /// `text` with every byte percent-encoded except letters, digits and `-._~/`.
  static func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var encoded = String.UnicodeScalarView()
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
        encoded.append(Unicode.Scalar(byte))
      default:
        encoded.append("%")
        encoded.append(digits[Int(byte >> 4)])
        encoded.append(digits[Int(byte & 15)])
      }
    }
    return String(encoded)
  }
}
