// The texts of errors about responses.

import DflatGraphQL
import DflatTestSupport
import Testing

@Suite("The texts of errors about responses")
struct ErrorTextTests {
  @Test("They name the place in the response")
  func texts() throws {
    let path: [GraphQLPathElement] = [.key("hero"), .index(1)]
    let error = GraphQLError(message: "not allowed", path: path)
    ErrorText(error, "hero", "not allowed", isHelpless: true).check()
    ErrorText(GraphQLErrors(errors: [error, error]), "not allowed\nhero", isHelpless: true).check()
    ErrorText(GraphQLErrors(errors: []), "no data", isHelpless: true).check()
    ErrorText(
      GraphQLDecodingError(path: path, reason: "expected String"), "hero", isHelpless: true
    ).check()
    ErrorText(GraphQLKeyError(entity: "Hero", key: "x"), "\"x\"", "Hero", isHelpless: true).check()
    ErrorText(GraphQLTransportError.notMultipart("a/b"), "a/b").check()
    ErrorText(GraphQLTransportError.interrupted, "last part").check()
    ErrorText(GraphQLTransportError.partTooLarge(limit: 7), "7", isHelpless: true).check()
    ErrorText(GraphQLTransportError.responseTooLarge(limit: 7), "7", isHelpless: true).check()
    ErrorText(GraphQLTransportError.tooManyUnread(limit: 7), "7").check()
    ErrorText(GraphQLTransportError.unknownPlace("\"a\""), "\"a\"", isHelpless: true).check()
    ErrorText(
      GraphQLTransportError.closed(code: 4403, reason: "no"), "4403 no", isHelpless: true
    ).check()
    ErrorText(GraphQLTransportError.unexpectedMessage("x"), "x", isHelpless: true).check()
    ErrorText(GraphQLTransportError.failed("cut"), "cut", isHelpless: true).check()
    #expect(
      try publicErrorTypes(of: "DflatGraphQL") == [
        "\(GraphQLError.self)", "\(GraphQLErrors.self)", "\(GraphQLDecodingError.self)",
        "\(GraphQLKeyError.self)", "\(GraphQLTransportError.self)",
      ])
  }
}
