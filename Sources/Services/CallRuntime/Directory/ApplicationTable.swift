import CallControl

/// The owners of applications, by identity and by address. An application that is removed and made again under the same
/// name gets an owner of its own, which has none of the former calls.
///
/// An address that has changed hands, or is nobody's any more, still leads messages to the owner that had it, whose
/// legs there are about to end.
struct ApplicationTable: Sendable {
    private var current: [ApplicationIdentity: (application: RegisteredApplication, owner: ApplicationOwner)] = [:]
    /// The owners of single addresses; the first application that claims one has it.
    private var singles: [UserAddress: ApplicationOwner] = [:]
    /// The owners of whole domains, in lower case.
    private var domains: [String: ApplicationOwner] = [:]
    /// Addresses that were an owner's, and are not any more.
    private var former: [(address: ApplicationAddress, owner: ApplicationOwner)] = []

    /// The owner of this application.
    func owner(of application: ApplicationIdentity) -> ApplicationOwner? { current[application]?.owner }

    /// The owner of this address, whom a call to it reaches. A single address comes before a whole domain.
    func owner(at address: UserAddress) -> ApplicationOwner? {
        if let owner = singles[address] { return owner }
        return address.guest == nil && !domains.isEmpty ? domains[String(address.domain)] : nil
    }

    /// All owners that may have legs at this address. A single address may have been one of a whole domain until now.
    func owners(of address: UserAddress) -> [ApplicationOwner] {
        let domain = address.guest == nil && !domains.isEmpty ? domains[String(address.domain)] : nil
        var found = singles[address].map { [$0] } ?? []
        if let domain, found.first !== domain { found.append(domain) }
        for (claim, owner) in former where claim.covers(address) && !found.contains(where: { $0 === owner }) {
            found.append(owner)
        }
        return found
    }

    /// Sets the applications from now on.
    ///
    /// - Returns: the owners that were made.
    mutating func set(
        _ applications: [RegisteredApplication], making make: (RegisteredApplication) -> ApplicationOwner
    ) -> [ApplicationOwner] {
        let before = current
        (current, singles, domains) = ([:], [:], [:])
        var made: [ApplicationOwner] = []
        for application in applications where current[application.identity] == nil {
            let owner: ApplicationOwner
            if let known = before[application.identity] {
                owner = known.owner
                if known.application != application { owner.change(to: application) }
            } else {
                owner = make(application)
                made.append(owner)
            }
            current[application.identity] = (application, owner)
            for address in application.addresses { claim(address, owner) }
        }
        for (identity, known) in before {
            if current[identity] == nil { known.owner.retire() }
            keep(known.application.addresses, of: known.owner)
        }
        former = former.filter { !isHeld($0.address, by: $0.owner) }
        return made
    }

    /// Forgets an owner that is gone.
    mutating func remove(_ owner: ApplicationOwner) { former.removeAll { $0.owner === owner } }

    private mutating func claim(_ address: ApplicationAddress, _ owner: ApplicationOwner) {
        if let single = address.single {
            if singles[single] == nil { singles[single] = owner }
        } else if let domain = address.wholeDomain, domains[domain] == nil {
            domains[domain] = owner
        }
    }

    /// Whether messages to the address reach the owner without being led there.
    private func isHeld(_ address: ApplicationAddress, by owner: ApplicationOwner) -> Bool {
        (address.single.flatMap { singles[$0] } ?? address.wholeDomain.flatMap { domains[$0] }) === owner
    }

    private mutating func keep(_ addresses: [ApplicationAddress], of owner: ApplicationOwner) {
        for address in addresses where !former.contains(where: { $0.address == address && $0.owner === owner }) {
            former.append((address, owner))
        }
    }
}
