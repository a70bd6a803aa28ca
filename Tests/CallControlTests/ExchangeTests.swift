import CallControl
import Primitives
import SDP
import Testing

/// The offer/answer exchange with one leg, as a value by itself.
struct ExchangeTests {
    enum Step: Sendable {
        case present
        case overtake
        case accept
        case lapse
        case close
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let steps: [Step]
        let state: String
        /// How many offers may still be answered.
        let count: Int
        /// Whether the leg knows what the last offer told it.
        let knows: Bool

        init(_ steps: [Step], _ state: String, count: Int, knows: Bool) {
            (self.steps, self.state, self.count, self.knows) = (steps, state, count, knows)
        }

        var testDescription: String { "\(steps)" }
    }

    static let rows = [
        Row([], "settled", count: 0, knows: false),
        Row([.accept], "settled", count: 0, knows: false),
        Row([.overtake], "settled", count: 0, knows: false),
        Row([.lapse], "settled", count: 0, knows: false),
        Row([.present], "open", count: 1, knows: true),
        Row([.present, .accept], "settled", count: 0, knows: true),
        Row([.present, .close], "settled", count: 0, knows: true),
        Row([.present, .present], "open", count: 2, knows: true),
        Row([.present, .overtake], "overtaken", count: 1, knows: false),
        Row([.present, .overtake, .accept], "settled", count: 0, knows: true),
        Row([.present, .overtake, .overtake], "settled", count: 0, knows: false),
        Row([.present, .overtake, .lapse], "settled", count: 0, knows: false),
        Row([.present, .overtake, .close], "settled", count: 0, knows: false),
        Row([.present, .overtake, .present], "open", count: 2, knows: true),
        Row([.present, .lapse], "lapsed", count: 1, knows: false),
        Row([.present, .lapse, .accept], "settled", count: 0, knows: true),
        Row([.present, .lapse, .overtake], "settled", count: 0, knows: false),
        Row([.present, .lapse, .lapse], "settled", count: 0, knows: false),
        Row([.present, .lapse, .present], "open", count: 2, knows: true),
        Row([.present, .lapse, .present, .accept], "answered", count: 1, knows: true),
        Row([.present, .lapse, .present, .accept, .accept], "settled", count: 0, knows: true),
        Row([.present, .lapse, .present, .accept, .overtake], "settled", count: 0, knows: true),
        Row([.present, .lapse, .present, .accept, .lapse], "settled", count: 0, knows: true),
        Row([.present, .lapse, .present, .accept, .present], "open", count: 2, knows: true),
    ]

    private static let offerTime = Duration.seconds(30)
    private static let media = LegMedia(identity: CallRig.identity("gw"), policy: .relay)

    private static func outline(_ direction: MediaDirection) throws -> MediaOutline {
        let text = ScriptedDescription.audio("peer", direction)
        return MediaOutline(try PeerDescription(reading: SessionDescription(parsing: text), as: .offer))
    }

    private func time(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    /// An exchange with a leg that knows of a peer which sends and receives; offers tell it that the peer only sends.
    private func exchange(_ steps: Step..., at now: MonotonicTime = .zero) throws -> Exchange {
        try exchange(steps, at: now)
    }

    private func exchange(_ steps: [Step], at now: MonotonicTime = .zero) throws -> Exchange {
        var exchange = Exchange(told: try Self.outline(.sendReceive))
        let news = try Self.outline(.sendOnly)
        for step in steps {
            switch step {
            case .present: exchange.present(Self.media, telling: news, until: now + Self.offerTime)
            case .overtake: exchange.overtake(at: now, extendedBy: Self.offerTime)
            case .accept: exchange.accept(at: now)
            case .lapse: _ = exchange.lapse(until: now + Self.offerTime)
            case .close: exchange.close()
            }
        }
        return exchange
    }

    @Test(arguments: rows)
    func `every step leads where the diagram says`(_ row: Row) throws {
        let exchange = try exchange(row.steps)
        let state =
            switch exchange.state {
            case .settled: "settled"
            case .open: "open"
            case .overtaken: "overtaken"
            case .answered: "answered"
            case .lapsed: "lapsed"
            }
        #expect(state == row.state)
        #expect(exchange.outstanding?.count ?? 0 == row.count)
        #expect(exchange.told == (try Self.outline(row.knows ? .sendOnly : .sendReceive)))
        #expect((exchange.deadline == nil) == (row.state == "settled"))
    }

    @Test func `an offer lapses, and is rolled back, once`() throws {
        var open = try exchange(.present)
        #expect(open.deadline == time(30))
        let wasOpen = open.lapse(until: time(60))
        #expect(wasOpen)
        #expect(open.deadline == time(60))
        #expect(open.newsDeadline == time(60), "what it told is offered again then")
        let isStillOpen = open.lapse(until: time(90))
        #expect(!isStillOpen)
    }

    @Test func `the answer to an overtaken offer is expected for longer`() throws {
        #expect(try exchange(.present, .overtake).deadline == time(60))
    }

    @Test func `nothing is offered while an offer is open, nor before the leg has settled`() throws {
        #expect(try exchange().isFree(at: .zero))
        #expect(try !exchange(.present).isFree(at: time(30)))
        #expect(try exchange(.present, .lapse).isFree(at: .zero))
        for steps in [[.present, .overtake], [.present, .present, .accept]] as [[Step]] {
            let exchange = try exchange(steps, at: time(10))
            #expect(!exchange.isFree(at: time(12)))
            #expect(exchange.isFree(at: time(13)))
        }
    }

    @Test func `news is offered some time after it was noticed, to a leg that is free`() throws {
        var exchange = try exchange()
        let news = try Self.outline(.inactive)
        let due = MonotonicTime.zero + Exchange.newsDelay
        let noticed = exchange.takeUp(news, isFree: true, at: .zero)
        #expect(exchange.newsDeadline == due)
        let early = exchange.takeUp(news, isFree: true, at: .zero)
        let busy = exchange.takeUp(news, isFree: false, at: due)
        let inTime = exchange.takeUp(news, isFree: true, at: due)
        #expect([noticed, early, busy, inTime] == [false, false, false, true])
        exchange.present(Self.media, telling: news, until: due + Self.offerTime)
        #expect(exchange.newsDeadline == nil)
        let told = exchange.takeUp(news, isFree: true, at: due)
        #expect(!told)
    }

    @Test func `news that is no news any more is not offered`() throws {
        var exchange = try exchange()
        _ = exchange.takeUp(try Self.outline(.inactive), isFree: true, at: .zero)
        let isOffered = exchange.takeUp(try Self.outline(.sendReceive), isFree: true, at: time(1))
        #expect(!isOffered)
        #expect(exchange.newsDue == nil)
    }

    @Test func `news waits until the leg has settled`() throws {
        var exchange = try exchange(.present, .overtake)
        _ = exchange.takeUp(try Self.outline(.inactive), isFree: false, at: .zero)
        #expect(exchange.newsDeadline == time(3))
    }

    @Test func `a leg that cannot be offered anything is asked only if it knows nothing`() throws {
        let news = try Self.outline(.inactive)
        var exchange = try exchange()
        let isAskedInVain = exchange.skip(news)
        #expect(!isAskedInVain)
        #expect(exchange.told == news)
        exchange.startAnew(at: .zero)
        #expect(exchange.told == nil)
        let isAsked = exchange.skip(news)
        #expect(isAsked)
        #expect(exchange.isAsked)
    }

    @Test func `the offer that a leg was asked for is told from an answer by its setup`() throws {
        let (offer, answer) = ("a=setup:actpass", "a=setup:active")
        var exchange = try exchange()
        #expect(!exchange.awaitsOffer(in: offer))
        exchange.ask()
        #expect(exchange.awaitsOffer(in: answer), "there is nothing to answer")
        exchange.present(Self.media, telling: nil, until: time(30))
        #expect(!exchange.awaitsOffer(in: answer))
        #expect(exchange.awaitsOffer(in: offer))
        exchange.offerMade()
        #expect(!exchange.awaitsOffer(in: offer))
    }
}

/// Which descriptions of a leg come twice or too late, as a value by itself.
struct SentDescriptionsTests {
    private func identity(_ request: DescriptionIdentity.Request, version: Int, id: Int = 1) -> DescriptionIdentity? {
        DescriptionIdentity(request, "v=0\r\no=- \(id) \(version) IN IP4 127.0.0.1\r\ns=-\r\n")
    }

    private func sent(_ descriptions: (DescriptionIdentity.Request, Int)...) -> SentDescriptions {
        var sent = SentDescriptions()
        for (request, version) in descriptions { sent.record(identity(request, version: version), as: request) }
        return sent
    }

    @Test func `a description is repeated in the kind of request that it came in`() {
        let sent = sent((.answer, 1), (.response, 2), (.offer, 3))
        #expect(sent.isRepeated(identity(.answer, version: 1)))
        #expect(sent.isRepeated(identity(.response, version: 2)))
        #expect(sent.isRepeated(identity(.offer, version: 3)))
        #expect(!sent.isRepeated(identity(.response, version: 3)))
        #expect(!sent.isRepeated(identity(.offer, version: 2)))
        #expect(!sent.isRepeated(nil))
    }

    @Test func `an offer is repeated only if nothing came after it`() {
        #expect(!sent((.offer, 1), (.response, 2)).isRepeated(identity(.offer, version: 1)))
        var offered = sent((.offer, 1))
        offered.forgetLast()
        #expect(!offered.isRepeated(identity(.offer, version: 1)))
    }

    @Test func `a lower version of the same session is older, unless the session id is the gateway's own`() {
        let sent = sent((.offer, 3))
        #expect(sent.isOlder(identity(.offer, version: 2), own: nil))
        #expect(!sent.isOlder(identity(.offer, version: 3), own: nil))
        #expect(!sent.isOlder(identity(.offer, version: 2, id: 9), own: nil))
        #expect(!sent.isOlder(identity(.offer, version: 2), own: 1))
        #expect(!sent.isOlder(nil, own: nil))
    }

    @Test func `an answer is overtaken by an offer that was sent later`() {
        let (older, same, newer) = (
            identity(.response, version: 2), identity(.response, version: 3), identity(.response, version: 4)
        )
        let offered = sent((.offer, 3))
        for isOffering in [true, false] {
            #expect(offered.isOvertaken(older, isOffering: isOffering, own: nil))
            #expect(offered.isOvertaken(same, isOffering: isOffering, own: nil) == isOffering)
            #expect(!offered.isOvertaken(newer, isOffering: isOffering, own: nil))
        }
        #expect(!sent((.response, 3)).isOvertaken(older, isOffering: true, own: nil))
    }
}
