import CallControl
import CallSupport
import Testing
import SPiDR

/// Every interleaving of what the parties of calls do, and of messages between the calls.
struct ExplorationTests {
    /// One call: double hold, offers that meet, answers that are late, a transfer and its outcome, one inside the
    /// other.
    @Test func `two parties and a target never reach a state that breaks a rule`() throws {
        var charts = CallExplorer.Charts()
        var walks: [Exploration] = []
        for (alice, others) in HoldTests.pairings {
            let start = try CallExplorer(.oneCall, alice: alice, others: others)
            let exploration = try Exploration(of: [start], depth: Exploration.isDeep ? 12 : 10) {
                charts.note($0, $1, $2)
            }
            print("one call, \(alice.rawValue) and \(others.rawValue): \(exploration)")
            #expect(exploration.states > 5_000)
            walks.append(exploration)
        }
        let stale = try ExplorationTable.fault(
            in: "one call, in each pairing of hold dialects", walks, isDeep: Exploration.isDeep)
        #expect(stale == nil)
        // A deep walk finds more than the document says.
        guard !Exploration.isDeep else { return }
        let fault = try ExpectedDocument(
            "call-states/in-a-call.md", title: "In a call",
            [
                "The states of the two legs of an answered call while the parties hold, resume, hang up, and transfer each other.",
                charts.ends.section(Self.order), charts.operations.section(CallExplorer.Charts.operationOrder),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// The same with clients that pay no heed to an offer while their own waits.
    @Test(arguments: HoldTests.pairings)
    func `clients that do not put their own offer aside go astray as little`(
        _ alice: HoldDialect, _ others: HoldDialect
    ) throws {
        let start = try CallExplorer(.oneCall, alice: alice, others: others, yields: false)
        let exploration = try Exploration(of: [start], depth: Exploration.isDeep ? 12 : 9)
        print("one call, without rules of order, \(alice.rawValue) and \(others.rawValue): \(exploration)")
        #expect(exploration.states > 5_000)
    }

    /// Two calls of one user, with consultation and conference.
    @Test func `three parties of two calls never reach a state that breaks a rule`() throws {
        var charts = CallExplorer.Charts()
        let start = try CallExplorer(.twoCalls, alice: .sendOnly, others: .inactive)
        let exploration = try Exploration(of: [start], depth: 6) { charts.note($0, $1, $2) }
        print("two calls: \(exploration)")
        #expect(exploration.states > 10_000)
        let stale = try ExplorationTable.fault(in: "two calls of one user", [exploration])
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/two-calls.md", title: "Two calls of one user",
            [
                "The states of the legs of two calls that a transfer to another call, or a join, brings together.",
                charts.ends.section(Self.order), charts.joiner.section(Self.order),
                charts.operations.section(CallExplorer.Charts.operationOrder),
                charts.conference.section(Call.stageOrder),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// Two calls that are held already, by one of their ends or by both, brought together while others hold, resume and
    /// leave. Everything that so many requests and time-outs lead to, in any order with the answers to them and the
    /// messages between the calls.
    @Test func `legs of held calls that are brought together never reach a state that breaks a rule`() throws {
        var charts = CallExplorer.Charts()
        var walks: [Exploration] = []
        for (name, alice, others, steps, requests) in Self.preparations {
            let start = try CallExplorer(
                .heldCalls, alice: alice, others: others, prepared: steps, requests: requests)
            let exploration = try Exploration(of: [start]) { charts.note($0, $1, $2) }
            print("two calls, \(name), \(alice.rawValue) and \(others.rawValue), \(requests) requests: \(exploration)")
            #expect(exploration.states > 1_000)
            #expect(exploration.open == 0)
            walks.append(exploration)
        }
        let stale = try ExplorationTable.fault(in: "two held calls of one user", walks)
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/held-calls.md", title: "Two held calls of one user",
            [
                "The states of the legs of held calls that a transfer or a join brings together, while parties hold, resume or leave.",
                charts.ends.section(Self.order), charts.joiner.section(Self.order),
                charts.operations.section(CallExplorer.Charts.operationOrder),
                charts.conference.section(Call.stageOrder),
            ]
        ).fault()
        #expect(fault == nil)
    }

    private static let preparations:
        [(name: String, alice: HoldDialect, others: HoldDialect, steps: [CallExplorer.Step], requests: Int)] = [
            ("both held", .inactive, .sendOnly, [.hold("A1"), .answer("B"), .hold("A2"), .answer("C")], 2),
            (
                "one held twice", .sendOnly, .sendOnly,
                [.hold("A1"), .answer("B"), .hold("B"), .answer("A1"), .hold("A2"), .answer("C")], 2
            ),
            (
                "both held twice", .sendOnly, .inactive,
                [
                    .hold("A1"), .answer("B"), .hold("B"), .answer("A1"), .hold("A2"), .answer("C"), .hold("C"),
                    .answer("A2"),
                ], 3
            ),
        ]

    /// One call until it is answered or over, on several devices, with requests and answers that get lost and
    /// notifications that are late.
    @Test func `the first answer wins, and everybody learns of it`() throws {
        var charts = DeviceExplorer.Charts()
        let exploration = try Exploration(of: [DeviceExplorer(withEarlyMedia: false)]) { charts.note($0, $1, $2) }
        print("until the answer: \(exploration)")
        #expect(exploration.states > 10_000)
        #expect(exploration.open == 0)
        let stale = try ExplorationTable.fault(in: "until the answer", [exploration])
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/until-the-answer.md", title: "Until the answer",
            [
                "What caller and callee go through until the call is answered or over, and the call with them.",
                charts.outgoing.section(Self.order), charts.incoming.section(Self.order),
                charts.call.section(Call.stageOrder),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// Devices of the callee are asleep, one beside an awake one or all: the call wakes them, and they come back at any
    /// time or never.
    @Test func `a device that is woken has the call, or is told once that it has not`() throws {
        var charts = DeviceExplorer.Charts()
        let starts = [
            DeviceExplorer(asleep: ["b1"], .whenAwake), DeviceExplorer(asleep: ["b1", "b2"], .atOnce),
        ]
        let walks = try starts.map { start in try Exploration(of: [start]) { charts.note($0, $1, $2) } }
        for walk in walks {
            print("until the answer, with devices that are asleep: \(walk)")
            #expect(walk.states > 1_000)
            #expect(walk.open == 0)
        }
        let stale = try ExplorationTable.fault(in: "until the answer, with devices that are asleep", walks)
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/asleep.md", title: "Until the answer, with devices that are asleep",
            [
                "What caller and callee go through if devices of the callee are asleep when the call starts, and are woken by push.",
                charts.outgoing.section(Self.order), charts.incoming.section(Self.order),
                charts.call.section(Call.stageOrder),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// The caller has a description ahead of the answer: SESSION_PROGRESS until a device rings.
    @Test func `early media changes nothing about who is told what`() throws {
        var charts = DeviceExplorer.Charts()
        let exploration = try Exploration(of: [DeviceExplorer(withEarlyMedia: true)], depth: 9) {
            charts.note($0, $1, $2)
        }
        print("until the answer, with early media: \(exploration)")
        #expect(exploration.states > 1_000)
        let stale = try ExplorationTable.fault(in: "until the answer, with early media", [exploration])
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/early-media.md", title: "Until the answer, with early media",
            [
                "What a caller that lists `earlymedia` goes through until the call is answered or over; the callee sees what it sees without.",
                charts.outgoing.section(Self.order),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// The call begins without an offer: whoever answers makes it, and the caller's answer to it gets lost or comes too
    /// late.
    @Test func `a call that begins without an offer is there for both or for nobody`() throws {
        var charts = DeviceExplorer.Charts()
        let exploration = try Exploration(of: [DeviceExplorer(withOffer: false)]) { charts.note($0, $1, $2) }
        print("until the answer, without an offer: \(exploration)")
        #expect(exploration.states > 5_000)
        #expect(exploration.open == 0)
        let stale = try ExplorationTable.fault(in: "until the answer, without an offer", [exploration])
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/slow-start.md", title: "Until the answer, without an offer",
            [
                "What caller and callee go through if `callStart` has no description: whoever answers offers, and the caller answers that.",
                charts.outgoing.section(Self.order), charts.incoming.section(Self.order),
            ]
        ).fault()
        #expect(fault == nil)
    }

    /// Cameras that come and go among holds, offers that are asked for, a transfer, and answers that are late or never
    /// come.
    @Test func `both ends and the gateway agree on every m-line`() throws {
        var walks: [Exploration] = []
        for (name, alice, others, daveSeesVideo, steps) in Self.filmings {
            let requests = Exploration.isDeep ? 3 : 2
            let start = try CallExplorer(
                .cameras, alice: alice, others: others, daveSeesVideo: daveSeesVideo, prepared: steps,
                requests: requests)
            let exploration = try Exploration(of: [start])
            print("\(name), \(alice.rawValue) and \(others.rawValue), \(requests) requests: \(exploration)")
            #expect(exploration.states > 1_000)
            #expect(exploration.open == 0)
            walks.append(exploration)
        }
        let stale = try ExplorationTable.fault(
            in: "cameras, in four courses of a call that has come so far", walks, isDeep: Exploration.isDeep)
        #expect(stale == nil)
    }

    private static let filmings:
        [(name: String, alice: HoldDialect, others: HoldDialect, daveSeesVideo: Bool, steps: [CallExplorer.Step])] = [
            ("sound only", .inactive, .sendOnly, true, []),
            ("Alice films", .sendOnly, .sendOnly, false, [.video("A1"), .hear("B"), .answer("B"), .hear("A1")]),
            (
                "both film", .sendOnly, .inactive, true,
                [
                    .video("A1"), .hear("B"), .answer("B"), .hear("A1"), .video("B"), .hear("A1"), .answer("A1"),
                    .hear("B"),
                ]
            ),
            (
                "Bob films and both hold", .inactive, .inactive, true,
                [
                    .video("B"), .hear("A1"), .answer("A1"), .hear("B"), .hold("A1"), .hear("B"), .answer("B"),
                    .hear("A1"),
                    .hold("B"), .hear("A1"), .answer("A1"), .hear("B"),
                ]
            ),
        ]

    /// All of that in one world: holds in both dialects, cameras, transfers to an address and to another call, a
    /// conference, calls that go to another device, and messages between the calls in any order.
    @Test func `all that two calls can be asked for at once leads nobody astray`() async throws {
        let explorations = try await withThrowingTaskGroup(of: Exploration.self) { walks in
            for course in Exploration.isDeep ? Self.deepCourses : Self.courses {
                walks.addTask {
                    let (name, alice, others, applications, steps, requests) = course
                    let start = try CallExplorer(
                        .everything, alice: alice, others: others, applications: applications, prepared: steps,
                        requests: requests)
                    let exploration = try Exploration(of: [start])
                    let course = "\(name), \(alice.rawValue) and \(others.rawValue), \(requests) requests"
                    print("everything, \(course): \(exploration)")
                    #expect(exploration.open == 0)
                    return exploration
                }
            }
            return try await walks.reduce(into: [Exploration]()) { $0.append($1) }
        }
        let states = explorations.map(\.states).reduce(0, +)
        print("everything: \(states) states")
        #expect(states >= (Exploration.isDeep ? 1_000_000 : 25_000))
        let stale = try ExplorationTable.fault(
            in: "everything at once, in six courses of two calls that have come so far", explorations,
            isDeep: Exploration.isDeep)
        #expect(stale == nil)
    }

    /// Found by a deep walk: the only one who could see what Alice films leaves the conference.
    @Test func `who films in a conference goes on when only an application is left`() throws {
        let deliveries = [CallExplorer.Step](repeating: .deliver(0), count: 4)
        let walk = try CallExplorer(
            .everything, alice: .inactive, others: .sendOnly, applications: [CallExplorer.carol, CallExplorer.dave],
            prepared: [.join] + deliveries + [.video("A3"), .end("B"), .deliver(0), .deliver(0)])
        #expect(walk.world.calls[CallExplorer.conference]?.legs.count == 2)
    }

    /// Carol and Dave are applications that hold and resume at any time, among holds, transfers, a conference and ends
    /// of the others.
    @Test func `holds of applications cross with everything, and nobody is led astray`() throws {
        for alice in [HoldDialect.inactive, .sendOnly] {
            let requests = Exploration.isDeep ? 3 : 2
            let start = try CallExplorer(
                [.meeting, .leaving, .transferring, .commanding], alice: alice, others: .sendOnly,
                applications: [CallExplorer.carol, CallExplorer.dave], requests: requests)
            let exploration = try Exploration(of: [start])
            print("applications hold, \(alice.rawValue), \(requests) requests: \(exploration)")
            #expect(exploration.states > 1_000)
            #expect(exploration.open == 0)
        }
    }

    /// Alice is an application that has called Bob and Carol: it holds, transfers, brings its calls together, leaves
    /// and hangs up, among holds and ends of the others; Dave, or Carol and Dave, are applications as well.
    @Test func `an application that calls, and brings its calls together, leads nobody astray`() throws {
        var walks: [Exploration] = []
        for applications: Set<SessionID> in [[], [CallExplorer.dave], [CallExplorer.carol, CallExplorer.dave]] {
            let start = try CallExplorer(
                [.meeting, .leaving, .transferring, .commanding], alice: .inactive,
                others: applications.isEmpty ? .inactive : .sendOnly,
                applications: applications.union(CallExplorer.callers), requests: 2)
            let exploration = try Exploration(of: [start])
            print("an application calls, with \(applications.count) others: \(exploration)")
            #expect(exploration.states > 500)
            #expect(exploration.open == 0)
            walks.append(exploration)
        }
        let stale = try ExplorationTable.fault(
            in: "two calls of an application, with clients and with applications", walks)
        #expect(stale == nil)
    }

    /// What the walk above has to come to: two others talk in the conference that the application has made and left.
    @Test func `two go on in a conference that its application has left`() throws {
        let walk = try CallExplorer(
            [.meeting, .leaving, .commanding], alice: .inactive, others: .sendOnly,
            applications: CallExplorer.callers,
            prepared: [.join] + [CallExplorer.Step](repeating: .deliver(0), count: 6) + [
                .answer("B"), .answer("C"), .finish("A1"), .finish("A2"), .command("A3"), .command("A3"), .end("A3"),
            ])
        #expect(walk.isQuiet)
        let legs = walk.world.calls[CallExplorer.conference]?.legs.map(\.party.session)
        #expect(legs.map(Set.init) == ["B", "C"])
    }

    private typealias Course = (
        name: String, alice: HoldDialect, others: HoldDialect, applications: Set<SessionID>, steps: [CallExplorer.Step],
        requests: Int
    )

    /// Each has its own number of requests, so that the walks take seconds.
    private static let courses: [Course] = [
        ("sound only", .inactive, .inactive, [], [], 2),
        ("Alice holds both", .inactive, .sendOnly, [], [.hold("A1"), .answer("B"), .hold("A2"), .answer("C")], 2),
        ("Bob films", .sendOnly, .inactive, [], [.video("B"), .answer("A1")], 2),
        ("Dave rings", .sendOnly, .sendOnly, [], [.transfer], 1),
        ("Carol and Dave are headless", .inactive, .sendOnly, [CallExplorer.carol, CallExplorer.dave], [], 2),
        (
            "a headless target rings, Bob films", .sendOnly, .inactive, [CallExplorer.dave],
            [
                .video("B"), .answer("A1"), .transfer,
            ], 1
        ),
    ]

    /// One more request of each, and the other pairings of dialects besides.
    private static let deepCourses = courses.flatMap { course in
        HoldTests.pairings.map { alice, others in
            let isOwn = (alice, others) == (course.alice, course.others)
            return (course.name, alice, others, course.applications, course.steps, course.requests + (isOwn ? 1 : 0))
                as Course
        }
    }

    private static let order = LegState.allCases.map(\.word)
}
