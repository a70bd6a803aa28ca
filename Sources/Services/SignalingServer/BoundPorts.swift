import Synchronization

/// The ports that the listeners were given. They are known as soon as all listeners are open.
final class BoundPorts: Sendable {
    private struct State {
        var ports: [Int?]
        var failed = false
        var waiting: [CheckedContinuation<[Int]?, Never>] = []

        /// The ports, or `nil` within the optional if a listener could not be opened. The outer `nil`: not known yet.
        var result: [Int]?? {
            if failed { return .some(nil) }
            let known = ports.compactMap { $0 }
            return known.count == ports.count ? .some(known) : nil
        }
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(ports: Array(repeating: nil, count: count))) }

    func set(_ index: Int, _ port: Int) { change { $0.ports[index] = port } }

    /// Notes that no more ports will come.
    func fail() { change { $0.failed = true } }

    /// Waits for the ports; `nil` if a listener could not be opened.
    func all() async -> [Int]? {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state -> [Int]?? in
                if let result = state.result { return result }
                state.waiting.append(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let (result, waiting) = state.withLock { state in
            body(&state)
            guard let result = state.result else { return ([Int]?.none, [CheckedContinuation<[Int]?, Never>]()) }
            defer { state.waiting = [] }
            return (result, state.waiting)
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }
}
