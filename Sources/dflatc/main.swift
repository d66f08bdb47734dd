// The process of dflatc; what it does is in DflatGenerator.

import DflatGenerator
import Foundation

let command = CompilerCommand(
  output: { FileHandle.standardOutput.write(Data($0.utf8)) },
  errors: { FileHandle.standardError.write(Data($0.utf8)) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
