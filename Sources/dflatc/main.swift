// The process of dflatc; what it does is in DflatGenerator.

import DflatGenerator
import Foundation
import Platform

StandardError.openMissing()
let command = CompilerCommand(
  output: { text in
    do { try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) } catch {
      StandardError.write("error: standard output cannot be written: \(error)\n")
      exit(74)
    }
  },
  errors: StandardError.write)
exit(command.run(Array(CommandLine.arguments.dropFirst())))
