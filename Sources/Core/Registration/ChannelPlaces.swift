import CallControl

/// Where the subscriptions stand whose channels were asked for. A place counts only if the channel is there, so that
/// nobody has to keep it up when subscriptions come and go.
struct ChannelPlaces: Equatable, Sendable {
    private var places: [ChannelID: Int] = [:]

    /// What it knows is no part of the state: it makes a search shorter, and changes no result.
    static func == (a: Self, b: Self) -> Bool { true }

    /// The index in `subscriptions` of the one that has a channel; `nil`: none has it.
    mutating func index(of channel: ChannelID, in subscriptions: [Subscription]) -> Int? {
        // A few are looked through sooner.
        guard subscriptions.count > Registration.fewSubscriptions else {
            if !places.isEmpty { places = [:] }
            return subscriptions.firstIndex { $0.channel == channel }
        }
        if let place = places[channel], place < subscriptions.count, subscriptions[place].channel == channel {
            return place
        }
        let index = subscriptions.firstIndex { $0.channel == channel }
        // Most of those that are gone are forgotten in time.
        if places.count >= 2 * subscriptions.count { places = [:] }
        places[channel] = index
        return index
    }
}
