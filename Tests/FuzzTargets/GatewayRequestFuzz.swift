import CallControl
import Foundation
import GatewayAPI
import Primitives
import Push
import SPiDR

/// Any bytes as a request body: reading does not trap, and what was read means the same after writing and reading
/// again.
package func fuzzGatewayRequest(_ bytes: Span<UInt8>) {
    var body = Data(capacity: bytes.count)
    for index in bytes.indices { body.append(bytes[index]) }
    if let request = reread(SubscribeRequest.self, from: body) { _ = Result { try request.subscriptionRequest() } }
    if let request = reread(CallDispositionRequest.self, from: body) { translate(.disposition(request)) }
    if let request = reread(CallControlRequest.self, from: body) {
        translate(.creation(request))
        translate(.operation(request, on: SessionID("A1")))
    }
    if let request = reread(MediaRequest.self, from: body) { translate(.media(request, on: SessionID("A1"))) }
    if let request = reread(InstantMessageRequest.self, from: body) {
        _ = Result { try request.messageRequest(maximumLength: 4_096, defaultDomain: "example.com") }
    }
    if let request = reread(PresenceRequest.self, from: body) { _ = Result { try request.presence() } }
    if let request = reread(PresenceWatcherRequest.self, from: body) {
        _ = Result { try request.meaning(defaultDomain: "example.com") }
    }
    if let request = reread(EventSubscriptionRequest.self, from: body) {
        _ = Result { try (request.kind(), request.users(defaultDomain: "example.com"), request.time()) }
    }
    if let request = reread(AddressBookRequest.self, from: body) {
        _ = Result { try (request.added(limit: 256), request.replacement(of: "ann", limit: 256)) }
    }
    if let request = reread(RouteRequest.self, from: body) { _ = Result { try request.change() } }
    if let request = reread(ClickToCallRequest.self, from: body), let joe = UserAddress(parsing: "joe@example.com") {
        translate(.clickToCall(request, by: joe))
    }
    _ = reread(AuthenticationTokenRequest.self, from: body)
    _ = reread(PushDeviceRequest.self, from: body)
    // It usually stands without a wrapper.
    if case .success(let request) = Result(catching: { try WireJSON.decodeBare(PushDeviceRequest.self, from: body) }) {
        for provider in PushProvider.allCases {
            _ = Result { try request.registration("d1", of: "joe@example.com", with: provider) }
        }
    }
    // Written again it may have another wrapper, which is then part of what its errors say.
    if case .success(let request) = Result(catching: { try WireJSON.decode(CallMeRequest.self, from: body) }) {
        translate(.guestCreation(request, confirmedName: nil))
    }
}

private func translate(_ request: ClientRequest) { _ = Result { try request.meaning(defaultDomain: "example.com") } }

private func reread<Content: WireObject & Equatable>(_ type: Content.Type, from body: Data) -> Content? {
    guard let content = try? WireJSON.decode(type, from: body) else { return nil }  // refusing is a fine answer
    do {
        let again = try WireJSON.decode(type, from: Data(WireJSON.encode(wrapping: content)))
        precondition(again == content, "the request survives")
    } catch {
        preconditionFailure("what was written cannot be read: \(error)")
    }
    return content
}
