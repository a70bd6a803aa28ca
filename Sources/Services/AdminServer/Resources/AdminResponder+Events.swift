import CallControl
import CallRuntime
import GatewayAPI
import EventAPI
import HTTPTypes

/// Events of calls as they happen.
extension AdminResponder {
    func tailEvents(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let selection: EventSelection
        do throws(EventSelection.Fault) {
            selection = try EventSelection(reader: .everything, types: nil, calls: call.parameters["call"])
        } catch {
            throw AdminError(.requestInvalidParameter, "The parameter \"call\" must be the id of a call.")
        }
        let place = try (call.parameters["since"] ?? call.headers[.lastEventID]).map(place) ?? .now
        let form: EventForm =
            call.headers[.accept]?.contains("text/event-stream") ?? false ? .serverSent : .lines
        let subscription = try await storing { () async throws(StorageError) in
            try await EventReading(
                selection, from: place,
                EventReading.Sources(log: events, calls: administration, journal: journal, clock: clock)
            ) { .everything }
        }
        return AdminAnswer(200, contentType: form.contentType, .stream(subscription.bytes(in: form)))
    }

    private func place(_ text: String) throws(AdminError) -> EventPlace {
        guard let place = EventPlace(text) else {
            throw AdminError(
                .requestInvalidParameter,
                "The parameter \"since\", or the header \"Last-Event-ID\", must be the id of an event, or \"oldest\".")
        }
        return place
    }
}

extension HTTPField.Name {
    /// The id of the last event that a reader of server-sent events has got before its connection broke.
    fileprivate static let lastEventID = Self("Last-Event-ID")!
}
