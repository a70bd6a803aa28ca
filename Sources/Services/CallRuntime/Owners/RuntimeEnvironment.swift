import Logging

/// What every owner gets: the configuration, the other owners, and the ports.
struct RuntimeEnvironment: Sendable {
    let configuration: LocalSwitchboard.Configuration
    let media: any MediaPort
    let channels: any ChannelPort
    let log: any CallLog
    let clock: any RuntimeClock
    let random: SharedRandomSource
    let observer: any RuntimeObserver
    let logger: Logger
}
