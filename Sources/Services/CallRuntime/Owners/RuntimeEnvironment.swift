import Logging

/// What every owner gets: the configuration, the other owners, and the ports.
struct RuntimeEnvironment: Sendable {
    let configuration: LocalSwitchboard.Configuration
    /// How owners reach each other.
    let router: any OwnerRouter
    let media: any MediaPort
    let channels: any ChannelPort
    let push: any PushPort
    let log: any CallLog
    /// `nil`: the events of calls are not kept.
    let eventLog: (any CallEventLog)?
    let journal: any Journal
    let clock: any RuntimeClock
    let random: SharedRandomSource
    let observer: any RuntimeObserver
    let subscriptions = ProcessCount()
    /// The messages that are kept for all users.
    let keptMessages = ProcessCount()
    /// Refused during the drain.
    let newWork = NewWork()
    let logger: Logger
}
