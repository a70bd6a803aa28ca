import ApplicationServer
import CallControl
import CallRuntime
import GatewayAPI
import Primitives
import SPiDR

/// Any bytes as the body of each request that applications make about calls: what is read is within its limits, and a
/// list that is played survives being written, as in the database; a refusal says what is wrong.
package func fuzzV1Body(_ bytes: Span<UInt8>) {
    let bytes = [UInt8](copying: bytes)
    let own = UserAddress(parsing: "bot@example.com").map { [ApplicationAddress($0)] } ?? []
    for addresses in [[], own] {
        do throws(V1Error) {
            let (request, order) = try ApplicationCallRequest.read(bytes, addresses: addresses)
            check(request)
            if let order { precondition(order.terms.listens == nil, "the gateway opens streams that speak") }
        } catch { check(error) }
    }
    for name in ApplicationCommand.Name.allCases {
        do throws(V1Error) {
            let command = try ApplicationCommand(name, reading: bytes)
            precondition(command.name == name, "a command is the one that the path names")
            check(command)
        } catch { check(error) }
    }
}

/// A refusal is the application's fault, and says what it is.
private func check(_ error: V1Error) {
    precondition(error.code.httpStatus == 400, "the body is at fault")
    precondition(!error.detail.isEmpty && error.detail.utf8.count < 2_000, "a refusal says why, in short")
    precondition(!error.body.isEmpty, "it can be sent")
}

private func check(_ request: ApplicationCallRequest) {
    if let time = request.ringTimeout {
        precondition(ApplicationCallRequest.ringTimeouts.contains(time), "a time is in its range")
    }
    precondition((request.displayName?.utf8.count ?? 0) <= 256, "a name is shown in full")
    precondition(
        (request.context?.utf8.count ?? 0) <= ApplicationCallRequest.maximumContextLength, "a context is kept in full")
    check(request.content)
    if let record = request.record { check(record) }
}

private func check(_ request: RecordRequest) {
    precondition(RecordRequest.lengths.contains(request.maximum), "an end is in reach")
    precondition((1...2).contains(request.channels), "channels can be written")
    precondition((request.tag?.utf8.count ?? 0) <= PlayRequest.maximumTagLength, "a tag comes back in full")
}

private func check(_ command: ApplicationCommand) {
    switch command {
    case .answer(let content), .send(let content): check(content)
    case .end(let text): precondition((text?.utf8.count ?? 0) <= 256, "a reason is sent in full")
    case .transfer(let address): precondition(UserAddress(parsing: address.text) == address, "an address is one")
    case .progress(let list): if let list { check(list) }
    case .play(let request):
        precondition((request.tag?.utf8.count ?? 0) <= PlayRequest.maximumTagLength, "a tag comes back in full")
        check(request.list)
    case .gather(let request):
        precondition(GatherRequest.sizes.contains(request.maximum), "an end is in reach")
        precondition(GatherRequest.timeouts.contains(request.firstTimeout), "a time is in its range")
        precondition(GatherRequest.timeouts.contains(request.betweenTimeout), "a time is in its range")
        if let prompt = request.prompt { check(prompt) }
    case .record(.start(let request)): check(request)
    case .join(let others): precondition(!others.isEmpty, "there is a call to join")
    case .ring, .reject, .hold, .resume, .transferToCall, .bridge, .leave, .mute, .unmute, .keys, .stop, .record: break
    }
}

private func check(_ content: CustomContent) {
    typealias Limits = CallControlRequest
    precondition(content.parameters.count <= Limits.maximumParameters, "parameters can be sent")
    precondition(content.bodies.count <= Limits.maximumBodies, "bodies can be sent")
    precondition(content.bodies.reduce(0) { $0 + $1.body.utf8.count } <= Limits.maximumBodyBytes, "bodies can be sent")
}

private func check(_ list: PlayList) {
    precondition(PlayList.sizes.contains(list.items.count) && PlayList.volumes.contains(list.volume), "in its range")
    let fallback = ApplicationFallback.announce(list)
    let written = String(decoding: WireJSON.encode(FallbackField(fallback)), as: UTF8.self)
    precondition(FallbackField.read(written: written) == fallback, "the list survives")
}
