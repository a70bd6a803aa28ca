import Primitives
import SignalingServer

/// Any bytes as the start of a trusted proxy's connection: the verdict does not depend on how they arrive, and nothing
/// behind the header counts.
package func fuzzProxyHeader(_ bytes: Span<UInt8>) {
    let whole = verdict(bytes)
    // One byte at a time: wait, until one byte decides, and then for good.
    let window = min(bytes.count, ProxyHeader.longest + 1)
    var decided: Verdict?
    for count in 0...window {
        let part = verdict(bytes.extracting(0..<count))
        if let decided {
            precondition(part == decided, "no later byte changes a verdict")
        } else if part != .waits {
            decided = part
        }
    }
    precondition(bytes.count > window || (decided ?? .waits) == whole, "arrival in parts changes nothing")
    precondition(window <= ProxyHeader.longest || decided != nil, "no header is longer than the limit")
    guard case .header(let header) = whole else { return }
    precondition(header.length <= bytes.count && header.length <= ProxyHeader.longest, "a header has come whole")
    if case .client(let address) = header.source {
        precondition(IPAddress(address.description) == address && address.unmapped == address, "an address is told")
    }
}

private enum Verdict: Equatable {
    case waits
    case header(ProxyHeader)
    case refused(ProxyHeader.Fault)
}

private func verdict(_ bytes: Span<UInt8>) -> Verdict {
    do throws(ProxyHeader.Fault) {
        return try ProxyHeader.parse(bytes).map { .header($0) } ?? .waits
    } catch {
        return .refused(error)
    }
}
