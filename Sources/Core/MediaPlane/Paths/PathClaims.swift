package import Primitives

/// The legs that packets of each path belong to, on one worker.
///
/// A valid check makes a claim, and no more: every peer with a leg knows a password and can forge the source address of
/// a check. A packet that a leg's keys authenticate makes that leg the owner of the path. The other legs keep their
/// claims behind it. If one of their peers really has taken over the address of another peer, its first packet shows
/// it.
///
///     nobody's ── claim ──▶ claimed ── prove ──▶ proven
///                            │    ▲                │ claim, prove by another leg
///                            ▼    └── withdraw ──  ▼
///                        contested: one owner, others in the order of their last checks
///
/// `Place` says where a leg is. `admission(over:)` says of every packet what is done with it.
package struct PathClaims<Place> {
    /// The claim of a leg to a path.
    package struct Claim {
        /// The leg that claims the path.
        package let leg: LegNumber
        /// Where the leg is.
        package fileprivate(set) var place: Place
        /// Whether this leg's keys have authenticated a packet that came over the path.
        package fileprivate(set) var isProven: Bool
    }

    /// What a worker needs to know about the path of a packet.
    package struct Holding {
        /// The leg for which packets are tried first.
        package fileprivate(set) var owner: Claim
        /// Whether other legs claim the path, too.
        package fileprivate(set) var isContested = false
    }

    /// The most legs that may claim a path at a time. One more replaces the leg without proof that was silent longest,
    /// whose next check restores its claim.
    package static var maximumClaims: Int { 8 }

    @usableFromInline var holdings: [Path: Holding] = [:]
    /// The legs behind the owner, the one with the latest check first; only for paths that have any.
    private var rivals: [Path: [Claim]] = [:]

    /// Makes an empty table.
    package init() {}

    /// Whether no path is claimed.
    package var isEmpty: Bool { holdings.isEmpty }

    /// The owner of the path; `nil` if no leg claims it.
    package func holding(of path: Path) -> Holding? { holdings[path] }

    /// All claims to the path, the owner's first.
    package func claims(on path: Path) -> [Claim] {
        guard let holding = holdings[path] else { return [] }
        return [holding.owner] + (rivals[path] ?? [])
    }

    /// Adds or updates the leg's claim: a valid check of the leg came over the path, or the leg has moved to another
    /// place with it. The owner stays the same.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - leg: The leg.
    ///   - place: Where the leg is now.
    ///   - isProven: Whether the leg brings its proof from another worker.
    package mutating func claim(_ path: Path, by leg: LegNumber, at place: Place, isProven: Bool = false) {
        guard let owner = holdings[path]?.owner else {
            holdings[path] = Holding(owner: Claim(leg: leg, place: place, isProven: isProven))
            return
        }
        guard owner.leg != leg else {
            holdings[path]?.owner.place = place
            if isProven { holdings[path]?.owner.isProven = true }
            return
        }
        var others = rivals[path] ?? []
        let known = others.firstIndex { $0.leg == leg }.map { others.remove(at: $0) }
        others.insert(Claim(leg: leg, place: place, isProven: isProven || known?.isProven == true), at: 0)
        if others.count >= Self.maximumClaims {
            // The claim that has just been made is not removed.
            others.remove(at: others.lastIndex { !$0.isProven }.flatMap { $0 == 0 ? nil : $0 } ?? others.count - 1)
        }
        setRivals(others, of: path)
    }

    /// The leg's keys have authenticated a packet that came over the path: the leg becomes its owner. Nothing changes
    /// if the leg does not claim the path.
    package mutating func prove(_ path: Path, by leg: LegNumber) {
        guard let owner = holdings[path]?.owner else { return }
        guard owner.leg != leg else {
            holdings[path]?.owner.isProven = true
            return
        }
        var others = rivals[path] ?? []
        guard let index = others.firstIndex(where: { $0.leg == leg }) else { return }
        var proven = others.remove(at: index)
        proven.isProven = true
        others.insert(owner, at: 0)
        holdings[path]?.owner = proven
        setRivals(others, of: path)
    }

    /// Removes the leg's claim. If the leg was the owner, the next leg becomes the owner, a proven one first.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - leg: The leg.
    ///   - condition: Whether the claim is removed, given the place of the leg.
    /// - Returns: Whether the path had an owner and has none now.
    @discardableResult
    package mutating func withdraw(_ path: Path, by leg: LegNumber, if condition: (Place) -> Bool = { _ in true })
        -> Bool
    {
        guard let owner = holdings[path]?.owner else { return false }
        var others = rivals[path] ?? []
        guard owner.leg == leg else {
            others.removeAll { $0.leg == leg && condition($0.place) }
            setRivals(others, of: path)
            return false
        }
        guard condition(owner.place) else { return false }
        guard let nextOwner = others.firstIndex(where: \.isProven) ?? others.indices.first else {
            holdings[path] = nil
            return true
        }
        holdings[path]?.owner = others.remove(at: nextOwner)
        setRivals(others, of: path)
        return false
    }

    private mutating func setRivals(_ others: [Claim], of path: Path) {
        rivals[path] = others.isEmpty ? nil : others
        holdings[path]?.isContested = !others.isEmpty
    }
}
