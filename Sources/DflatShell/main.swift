// The process of `dflat`: what it does is in ShellCommand.swift.

import Foundation

StandardStreams.prepare()
let interrupts = Interrupts()
let command = ShellCommand(
  terminal: Terminal.standard, output: StandardStreams.writeOutput,
  errors: StandardStreams.writeError, input: { readLine() },
  standardInput: StandardStreams.readInput, endsWhenInterrupted: { interrupts.give($0) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
