import CallControl
import CallRuntime
import NIOCore
import Registration
import Sockets

/// The channels whose clients ask by long polls (spidr-wire §4.5).
final class PollDirectory: Sendable {
    /// A channel is found only under its own user, as by a WebSocket.
    private struct Key: Hashable {
        let user: UserAddress
        let channel: ChannelID
    }

    private let polls = Lock<[Key: PollSocket]>([:])
    private let registrar: any Registrar
    private let sockets: SocketDirectory
    private let group: any EventLoopGroup
    private let times: PollSocket.Times

    /// Makes an empty directory.
    init(
        _ registrar: any Registrar, _ sockets: SocketDirectory, on group: any EventLoopGroup, times: PollSocket.Times
    ) {
        self.registrar = registrar
        self.sockets = sockets
        self.group = group
        self.times = times
    }

    /// Waits for the next notification of a channel. The first request opens the channel.
    ///
    /// - Parameter connection: the peer of the request's connection; `nil`: unknown.
    func ask(_ address: ChannelAddress, on connection: NIOCore.SocketAddress?) async -> PollSocket.Outcome {
        let key = Key(user: address.user, channel: address.channel)
        if let socket = polls.withLock({ $0[key] }) {
            return await socket.ask(on: connection, since: address.latest)
        }
        guard await registrar.channelExists(address.user, address.channel) else { return .gone }
        let (socket, isNew) = enter(key)
        if isNew, await !registrar.channelOpened(address.user, address.channel, on: socket.id, since: address.latest) {
            // The subscription ended between the look-up and the opening.
            socket.close(.normal)
        }
        return await socket.ask(on: connection, since: address.latest)
    }

    /// Answers all requests that wait. The gateway is stopping.
    func release() {
        for socket in polls.withLock({ Array($0.values) }) { socket.close(.goingAway) }
    }

    /// The socket of a channel, made if there is none.
    private func enter(_ key: Key) -> (socket: PollSocket, isNew: Bool) {
        let id = sockets.makeID()
        let socket = PollSocket(
            id: id, on: group.next(), times: times,
            confirmed: { [registrar] in registrar.channelConfirmed(key.user, key.channel, through: $0) },
            left: { [weak self] in self?.remove(id, key) })
        let known = polls.withLock { polls -> PollSocket? in
            if let known = polls[key] { return known }
            polls[key] = socket
            return nil
        }
        if let known { return (known, false) }
        sockets.insert(socket)
        return (socket, true)
    }

    private func remove(_ id: SocketID, _ key: Key) {
        polls.withLock { polls in
            if polls[key]?.id == id { polls[key] = nil }
        }
        sockets.remove(id)
        Task { [registrar] in await registrar.channelClosed(key.user, key.channel, on: id) }
    }
}
