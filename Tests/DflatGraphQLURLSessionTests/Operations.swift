// Operations as the generator writes them, in short.

import DflatGraphQL

struct EchoQuery: GraphQLQuery {
  static let operationName = "Echo"
  static let document = "query Echo($text: String!) { echo(text: $text) }"
  var variables: Variables
  struct Variables: Encodable, Hashable, Sendable { var text: String }
  struct Data: Codable, Hashable, Sendable { var echo: String }

  init(_ text: String) { variables = Variables(text: text) }
}

struct SecretQuery: GraphQLQuery {
  static let operationName = "Secret"
  static let document = "query Secret { secret }"
  var variables = GraphQLNoVariables()
  struct Data: Codable, Hashable, Sendable { var secret: String? }
}

struct HeroQuery: GraphQLQuery {
  static let operationName = "Hero"
  static let document = "query Hero { hero { name ... @defer { bio } } }"
  var variables = GraphQLNoVariables()
  struct Data: Codable, Hashable, Sendable {
    var hero: Hero
    struct Hero: Codable, Hashable, Sendable {
      var name: String
      var bio: String?
    }
  }
}

struct SendMutation: GraphQLMutation {
  static let operationName = "Send"
  static let document =
    "mutation Send($file: Upload!, $note: String) { send(file: $file, note: $note) }"
  var variables: Variables
  struct Variables: Encodable, Hashable, Sendable {
    var file: GraphQLUpload
    var note: String
  }
  struct Data: Codable, Hashable, Sendable { var send: String }
}

struct CountSubscription: GraphQLSubscription {
  static let operationName = "Count"
  static let document = "subscription Count($to: Int!) { count(to: $to) }"
  var variables: Variables
  struct Variables: Encodable, Hashable, Sendable { var to: Int }
  struct Data: Codable, Hashable, Sendable { var count: Int }

  init(to: Int) { variables = Variables(to: to) }
}

struct WrongSubscription: GraphQLSubscription {
  static let operationName = "Wrong"
  static let document = "subscription Wrong { wrong }"
  var variables = GraphQLNoVariables()
  struct Data: Codable, Hashable, Sendable { var wrong: Int }
}
