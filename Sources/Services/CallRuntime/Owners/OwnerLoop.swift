/// An owner whose loop has to be run.
enum OwnerLoop: Sendable {
    case registration(RegistrationOwner)
    case call(CallOwner)
    case application(ApplicationOwner)
    case connector(ConnectorOwner)
}
