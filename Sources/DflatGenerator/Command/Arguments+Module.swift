// The arguments of `dflatc module`.

/// `dflatc module`.
struct ModuleRequest: Equatable {
  var output = ""
  var configuration: String?
  /// The schemas of the module.
  var inputs: [String] = []
  /// The Swift files of the module.
  var swift: [String] = []
  var modules: [ModuleMap.Module] = []
  var access: AccessLevel?
}

extension Request {
  private static let moduleOptions = [
    "--output", "--config", "--module", "--swift", "--access", "--help",
  ]

  static func module(_ arguments: ArraySlice<String>) throws(UsageError) -> Request {
    var request = ModuleRequest()
    var output: String?
    var line = OptionReader(arguments, long: moduleOptions)
    while let argument = line.next() {
      guard case .option(let option, _) = argument else {
        request.inputs.append(argument.text)
        continue
      }
      switch option {
      case "-o", "--output":
        if output != nil { throw UsageError(message: "\(option) is given twice") }
        output = try line.value(of: argument)
      case "--config":
        if request.configuration != nil { throw UsageError(message: "--config is given twice") }
        request.configuration = try line.value(of: argument)
      case "--module": request.modules.append(try line.module(of: argument))
      case "--swift": request.swift.append(try line.value(of: argument))
      case "--access": request.access = try line.access(of: argument, after: request.access)
      case "-h", "--help": return .help("module")
      default:
        throw UsageError(
          message: "'dflatc module' has no option '\(argument.text)'" + line.guess(argument))
      }
    }
    guard let output else {
      throw UsageError(message: "-o DIR is missing: where is the Swift file to go?")
    }
    request.output = output
    return .module(request)
  }
}

extension OptionReader {
  /// The argument of `--module NAME=DIR`.
  mutating func module(of argument: Argument) throws(UsageError) -> ModuleMap.Module {
    let value = try value(of: argument)
    guard let equals = value.firstIndex(of: "="), equals != value.startIndex,
      value.index(after: equals) != value.endIndex
    else { throw UsageError(message: "--module needs NAME=DIR, not '\(value)'") }
    let name = String(value[..<equals])
    guard Identifier.isPath(name) else {
      throw UsageError(message: "--module \(value): '\(name)' is no name of a module")
    }
    return ModuleMap.Module(
      name: name, folder: String(value[value.index(after: equals)...]))
  }
}
