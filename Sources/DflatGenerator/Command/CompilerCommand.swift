// CompilerCommand: the program dflatc, without the process around it.
//
// It keeps true: for an input with errors nothing is written; a file whose text has not changed is not touched; the exit
// status is 0 only if everything was generated, 1 for errors in inputs and files, 64 for a command line that makes no sense;
// `check` adds 2 for schemas that are not compatible.

import DflatSchema
import Foundation

/// The compiler's command line.
public struct CompilerCommand {
  /// The version that `--version` prints.
  public static let version = "0.1.0"

  private let output: (String) -> Void
  private let errors: (String) -> Void

  /// - Parameters:
  ///   - output: Takes what belongs on standard output, with its line ends.
  ///   - errors: Takes what belongs on standard error, with its line ends.
  public init(output: @escaping (String) -> Void, errors: @escaping (String) -> Void) {
    self.output = output
    self.errors = errors
  }

  /// Runs one command line.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The exit status.
  public func run(_ arguments: [String]) -> Int32 {
    let request: Request
    do {
      request = try Request(arguments)
    } catch {
      errors("dflatc: error: \(error.message)\n\n\(Help.usage)\nSee 'dflatc --help'.\n")
      return 64
    }
    switch request {
    case .help(let command):
      output(Help.text(for: command))
      return 0
    case .version:
      output("dflatc \(Self.version)\n")
      return 0
    case .compile(let request): return compile(request)
    case .check(let request): return check(request)
    }
  }

  private func check(_ request: CheckRequest) -> Int32 {
    guard let include = includes(of: request.configuration) else { return 1 }
    return SchemaCheck(request: request, include: include, output: output, errors: errors).run()
  }

  /// The directories that a configuration file names; nil after an error in it.
  private func includes(of configuration: String?) -> [String]? {
    guard let configuration else { return [] }
    do {
      return try Configuration(path: configuration).include
    } catch {
      errors(error.message + "\n")
      return nil
    }
  }

  private func compile(_ request: CompileRequest) -> Int32 {
    var options = GeneratorOptions()
    options.keepsJSON = request.keepsJSON
    options.declaresNamespaces = request.declaresNamespaces
    guard let include = includes(of: request.configuration) else { return 1 }
    let compiler = SchemaCompiler(includePaths: request.include + include)
    var failed = false
    for input in request.inputs {
      let result = compiler.compile(file: input)
      for diagnostic in result.diagnostics { errors(diagnostic.rendered() + "\n") }
      guard let schema = result.schema else {
        failed = true
        continue
      }
      do {
        let directory = try OutputDirectory(request.output)
        for file in Generator(schema, options: options).generate() { try directory.write(file) }
      } catch {
        errors("dflatc: error: \(error.message)\n")
        failed = true
      }
    }
    return failed ? 1 : 0
  }
}
