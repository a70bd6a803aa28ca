import Cryptography

extension ValueFormat<PasswordHash.Cost> {
    /// The parameters of scrypt, as they are in the records.
    static let passwordCost = ValueFormat(
        "a cost of scrypt from ln=1,r=1,p=1 to ln=17,r=16,p=4, with ln below 16 times r",
        parseText: { PasswordHash.Cost(parsing: $0) }, writeText: \.text)
}
