import CallControl

/// The subscriptions that are there, and what they were granted.
extension Registration {
    /// The subscriptions that have not ended, including those in their grace.
    var active: [Subscription] { subscriptions.filter { !$0.isEnding } }

    /// The index of a subscription; `nil` if it has ended or never was.
    func activeIndex(of id: SubscriptionID) -> Int? { subscriptions.firstIndex { $0.id == id && !$0.isEnding } }

    /// The indices of the subscriptions of these names that have not ended, each once, in the order of the names. It
    /// takes as long as there are names and subscriptions, whatever the order is.
    func indices(of names: [SubscriptionID]) -> [Int] {
        var found: [Int] = []
        found.reserveCapacity(names.count)
        var isFound = [Bool](repeating: false, count: subscriptions.count)
        var places: [SubscriptionID: Int]?
        for name in names {
            // Mostly they are asked for in the order in which they stand.
            let next = found.last.map { $0 + 1 } ?? 0
            var index: Int?
            if next < subscriptions.count, subscriptions[next].id == name {
                index = subscriptions[next].isEnding ? nil : next
            } else if subscriptions.count <= Self.fewSubscriptions {
                index = activeIndex(of: name)
            } else {
                let table = places ?? activePlaces
                places = table
                index = table[name]
            }
            guard let index, !isFound[index] else { continue }
            isFound[index] = true
            found.append(index)
        }
        return found
    }

    /// So many are looked through sooner than put into a table.
    static let fewSubscriptions = 8

    /// Where each subscription stands that has not ended.
    private var activePlaces: [SubscriptionID: Int] {
        var places: [SubscriptionID: Int] = [:]
        places.reserveCapacity(subscriptions.count)
        for index in subscriptions.indices where !subscriptions[index].isEnding {
            places[subscriptions[index].id] = index
        }
        return places
    }

    /// The subscriptions that were granted a service.
    ///
    /// - Parameter service: in lower case.
    func receivers(of service: String) -> [SubscriptionID] {
        // Every notice of a service asks for them, so that no subscription is copied.
        subscriptions.compactMap { !$0.isEnding && $0.isGranted(service) ? $0.id : nil }
    }

    /// Informs all legs of the user.
    func inform(_ change: DeviceChange) -> [RegistrationAction] {
        attachments.map { .inform($0.call, $0.leg, change) }
    }
}

extension Subscription {
    /// Whether it was granted a service.
    ///
    /// - Parameter service: in lower case.
    func isGranted(_ service: String) -> Bool { services.contains { $0.lowercased() == service } }
}
