package import Primitives

extension SDPError {
    /// How a line breaks the grammar (RFC 8866 §9).
    package enum LineFault: Equatable, Sendable {
        /// The description does not start with `v=`.
        case missingVersion
        /// No `o=` follows `v=`.
        case missingOrigin
        /// No `s=` follows `o=`.
        case missingName
        /// There is no `t=`.
        case missingTimes
        /// The line is empty, and others follow.
        case empty
        /// The line does not start with one letter and `=`.
        case noType
        /// The line has a NUL, or a carriage return that does not end it.
        case controlCharacter
        /// SDP has no line of that type.
        case unknownType
        /// A line of this type may not stand here, or not again.
        case misplaced(Unicode.Scalar)
        /// `v=` is not 0.
        case unsupportedVersion
        /// `o=` does not have six fields.
        case originFields
        /// The session id or the version of `o=` is not a number of at most 63 bits.
        case originNumbers
        /// `c=` does not have three fields.
        case connectionFields
        /// `b=` lacks its type, its colon or its number.
        case bandwidthFields
        /// `t=` lacks its start or its stop time.
        case timeFields
        /// `a=` has no name.
        case attributeName
        /// `m=` has fewer than four fields.
        case mediaFields
        /// The port of `m=` is not 0…65535.
        case mediaPort
        /// The number of ports of `m=` is not 1…65535.
        case mediaPortCount
    }

    /// Why an attribute of an m-line cannot be used.
    package enum MediaFault: Equatable, Sendable {
        /// The value of the attribute of this name cannot be read. The value is not kept, since it may be a password or
        /// a fingerprint.
        case unreadable(attribute: String)
        /// `a=mid` is that of another m-line (RFC 5888 §4).
        case repeatedMid
    }

    /// The limit that a description exceeds. A line number counts from 1.
    package enum Limit: Equatable, Sendable {
        /// The description has more bytes.
        case bytes(Int)
        /// A line has more bytes without its line end.
        case lineBytes(Int, line: Int)
        /// The description has more m-lines.
        case mediaCount(Int)
        /// The description has more `a=` and `b=` lines; `line` is the first that is too many.
        case attributeCount(Int, line: Int)
    }

    /// How a later offer fails to continue the session.
    package enum OfferFault: Equatable, Sendable {
        /// The offer has fewer m-lines than the session had (RFC 3264 §8).
        case fewerMedia(count: Int, agreed: Int)
        /// The media type of the m-line has changed.
        case changedKind
        /// `a=mid` of the m-line has changed.
        case changedMid
    }

    /// How an answer contradicts its offer.
    package enum AnswerFault: Equatable, Sendable {
        /// The answer has m-lines that were not offered (RFC 3264 §6).
        case surplusMedia(count: Int, offered: Int)
        /// The m-line has another media type than the offered one.
        case otherKind(MediaKind, offered: MediaKind)
        /// The m-line has another `a=mid` than the offered one.
        case otherMid
        /// The m-line has another protocol than the offered one.
        case otherProtocol
        /// The direction cannot answer the offered one (RFC 3264 §6.1).
        case direction(MediaDirection, offered: MediaDirection)
        /// A payload type means another encoding, such as `opus/48000/2`, than in the offer. It is that of the peer.
        case otherEncoding(PayloadType, String, offered: String)
        /// The gateway can carry none of the m-lines as answered, and this is why it cannot carry this one.
        case unusable(MediaRefusal)
    }
}
