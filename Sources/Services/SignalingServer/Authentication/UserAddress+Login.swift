package import CallControl

extension UserAddress {
    /// A user as people log in and clients write paths: the domain may be left out.
    package init?(login: String, defaultDomain: String) {
        self.init(parsing: login.utf8.contains(UInt8(ascii: "@")) ? login : "\(login)@\(defaultDomain)")
    }
}
