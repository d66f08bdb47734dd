// Completions: scripts for shells, made of the verbs.

/// The completion of command lines.
enum Completions {
  static let shells = ["bash", "zsh", "fish"]

  /// The script for a shell; nil if there is none.
  static func script(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  private static var verbs: String { Verb.all.map(\.name).joined(separator: " ") + " help" }

  /// The words that an operand is one of, by the verb.
  private static let operands = [
    "completions": shells.joined(separator: " "),
    "help": Verb.all.map(\.name).joined(separator: " "),
  ]

  /// All options with fixed values.
  private static var choices: [(name: String, values: [String])] {
    var found: [(String, [String])] = []
    for option in Verb.all.flatMap(\.allOptions) where !option.choices.isEmpty {
      if !found.contains(where: { $0.0 == option.name }) {
        found.append((option.name, option.choices))
      }
    }
    return found
  }

  // MARK: bash

  private static var bash: String {
    var text = """
      # Completion of dflat for bash, made by: dflat completions bash

      _dflat() {
        local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local verb=${COMP_WORDS[1]} options='' words=''
        COMPREPLY=()
        if [[ $COMP_CWORD -eq 1 ]]; then
          mapfile -t COMPREPLY < <(compgen -W '\(verbs)' -- "$word")
          return
        fi
        case $previous in

      """
    for choice in choices {
      text += "    \(choice.name)) words='\(choice.values.joined(separator: " "))' ;;\n"
    }
    text += "  esac\n  case $verb in\n"
    for verb in Verb.all {
      let options = verb.allOptions.map(\.name).joined(separator: " ")
      text += "    \(verb.name)) options='\(options)' ;;\n"
    }
    text += "  esac\n  case $verb in\n"
    for (verb, words) in operands.sorted(by: { $0.key < $1.key }) {
      text += "    \(verb)) words='\(words)' ;;\n"
    }
    return text + """
        esac
        if [[ $word == -* ]]; then
          mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
        elif [[ -n $words ]]; then
          mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        else
          compopt -o filenames
          mapfile -t COMPREPLY < <(compgen -f -- "$word")
        fi
      }

      complete -F _dflat dflat

      """
  }

  // MARK: zsh

  private static var zsh: String {
    var text = """
      #compdef dflat
      # Completion of dflat for zsh, made by: dflat completions zsh

      _dflat() {
        local -a verbs options
        if (( CURRENT == 2 )); then
          verbs=(

      """
    for verb in Verb.all { text += "      '\(verb.name):\(quoted(verb.summary))'\n" }
    text += """
          )
          _describe verb verbs
          return
        fi
        case $words[2] in

      """
    for (verb, words) in operands.sorted(by: { $0.key < $1.key }) {
      text += "    \(verb)) compadd -- \(words); return ;;\n"
    }
    for verb in Verb.all where operands[verb.name] == nil {
      text += "    \(verb.name))\n      options=(\n"
      for option in verb.allOptions {
        var words = "\(option.name)[\(bracketed(option.text))]"
        if let value = option.value {
          let kind =
            option.choices.isEmpty
            ? (option.isFile ? "_files" : "") : "(\(option.choices.joined(separator: " ")))"
          words += ":\(value.replacing(":", with: " ")):\(kind)"
        }
        text += "        '\(quoted(words))'\n"
      }
      text += "      ) ;;\n"
    }
    return text + """
        esac
        shift words
        (( CURRENT-- ))
        _arguments $options '*:file:_files'
      }

      _dflat "$@"

      """
  }

  /// A text inside of single quotation marks.
  private static func quoted(_ text: String) -> String { text.replacing("'", with: "'\\''") }

  private static func bracketed(_ text: String) -> String {
    text.replacing("[", with: "(").replacing("]", with: ")").replacing(":", with: ";")
  }

  // MARK: fish

  private static var fish: String {
    var text = """
      # Completion of dflat for fish, made by: dflat completions fish

      complete -c dflat -f -n __fish_use_subcommand

      """
    func line(_ verb: String, _ rest: String) {
      text += "complete -c dflat -n '__fish_seen_subcommand_from \(verb)' \(rest)\n"
    }
    for verb in Verb.all {
      text +=
        "complete -c dflat -n __fish_use_subcommand -a \(verb.name) -d \(word(verb.summary))\n"
    }
    for (verb, words) in operands.sorted(by: { $0.key < $1.key }) {
      line(verb, "-f -a '\(words)'")
    }
    for verb in Verb.all {
      for option in verb.allOptions {
        var rest = "-l \(option.name.dropFirst(2)) -d \(word(option.text))"
        if !option.choices.isEmpty {
          rest += " -x -a '\(option.choices.joined(separator: " "))'"
        } else if option.value != nil {
          rest += option.isFile ? " -r -F" : " -x"
        }
        line(verb.name, rest)
      }
    }
    return text
  }

  /// A text as a word of fish.
  private static func word(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
