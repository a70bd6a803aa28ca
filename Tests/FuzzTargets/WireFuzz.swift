import CallControl
import GatewayAPI
import Primitives

/// Any text as the value of an `Authorization` header.
package func fuzzBasicCredentials(_ bytes: Span<UInt8>) {
    let header = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    do {
        let credentials = try BasicCredentials(parsing: header, defaultDomain: "example.com")
        precondition(header.prefix { $0 != " " }.lowercased() == "basic", "the scheme is Basic")
        precondition(!credentials.user.user.isEmpty, "somebody is named")
    } catch {
        precondition([.authMalformed, .authUnsupportedScheme].contains(error.code), "a refusal says what is wrong")
    }
}

/// Any text as the path of a request, without its query.
package func fuzzRoute(_ bytes: Span<UInt8>) {
    let path = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    guard let route = try? Route(parsing: path) else { return }  // refusing is a fine answer
    precondition(route.user.isEmpty || route.endpoint.template.contains("{user}"), "a user where there is one")
    precondition(route.id.isEmpty || route.endpoint.template.contains("{id}"), "an id where there is one")
    // Slashes at the end make no difference.
    precondition((try? Route(parsing: path + "//")) == route, "the same with slashes at its end")
}
