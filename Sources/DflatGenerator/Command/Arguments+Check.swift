// The arguments of `dflatc check`.

/// `dflatc check`.
struct CheckRequest: Equatable {
  var old = ""
  var new = ""
  var include: [String] = []
  /// Include directories for the old version, if they differ.
  var oldInclude: [String] = []
  var configuration: String?
  var printsJSON = false
}

extension Request {
  private static let checkOptions = ["--include", "--old-include", "--config", "--json", "--help"]

  static func check(_ arguments: ArraySlice<String>) throws(UsageError) -> Request {
    var request = CheckRequest()
    var schemas: [String] = []
    var line = OptionReader(arguments, long: checkOptions)
    while let argument = line.next() {
      guard case .option(let option, let attached) = argument else {
        schemas.append(argument.text)
        continue
      }
      switch option {
      case "-I", "--include": request.include.append(try line.value(of: argument))
      case "--old-include": request.oldInclude.append(try line.value(of: argument))
      case "--config":
        if request.configuration != nil { throw UsageError(message: "--config is given twice") }
        request.configuration = try line.value(of: argument)
      case "--json":
        if attached != nil { throw UsageError(message: "--json takes no value") }
        request.printsJSON = true
      case "-h", "--help": return .help("check")
      case "-o", "--output": throw UsageError(message: "'dflatc check' writes no files")
      default:
        throw UsageError(
          message: "'dflatc check' has no option '\(argument.text)'" + line.guess(argument))
      }
    }
    guard schemas.count == 2 else {
      throw UsageError(
        message: "'dflatc check' takes two schemas, the old and the new one, not \(schemas.count)")
    }
    (request.old, request.new) = (schemas[0], schemas[1])
    return .check(request)
  }
}
