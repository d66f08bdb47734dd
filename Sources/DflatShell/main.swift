// The process of `dflat`: what it does is in ShellCommand.swift.

import Foundation
import Platform

// A reader that ends early, as `head` does, is no reason to be killed: writing fails then.
signal(SIGPIPE, SIG_IGN)
StandardError.openMissing()
let interrupts = Interrupts()
let command = ShellCommand(
  terminal: Terminal.standard,
  output: { data in
    try withSystemErrors("standard output", "written") {
      try FileHandle.standardOutput.write(contentsOf: data)
    }
  },
  errors: StandardError.write,
  input: { readLine() },
  standardInput: {
    try withSystemErrors("standard input", "read") {
      try FileHandle.standardInput.read(upToCount: 1 << 20)
    }
  },
  endsWhenInterrupted: { interrupts.give($0) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
