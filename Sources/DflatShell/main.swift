// The process of `dflat`: what it does is in ShellCommand.swift.

import Foundation
import Platform

StandardStreams.prepare()
let interrupts = Interrupts()
let command = ShellCommand(
  terminal: Terminal.standard, output: StandardStreams.writeOutput,
  errors: StandardError.write, input: { readLine() },
  standardInput: StandardStreams.readInput, endsWhenInterrupted: { interrupts.give($0) })
exit(command.run(Array(CommandLine.arguments.dropFirst())))
