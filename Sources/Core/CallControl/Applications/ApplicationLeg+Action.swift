extension ApplicationLeg {
    /// What follows from an input, in order.
    package enum Action: Equatable, Sendable {
        /// The call is asked for this.
        case perform(CallCommand)
        /// Nobody has decided in time: the fallback happens.
        case fallBack
        /// The announcement, which the call did not allow before, is said.
        case announce(PlayList)
        /// The recording that the call was to have starts.
        case record(RecordRequest)
        /// The fallback of a stream that was given up before the answer happens now.
        case fallBackOfStream
    }
}
