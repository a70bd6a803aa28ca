/// Header extension elements (RFC 8285).
extension RTPHeader {
    /// The profile bits of one-byte headers (RFC 8285 §4.2).
    private static let oneByteProfile: UInt16 = 0xBEDE
    /// The profile bits of two-byte headers without the four application bits (RFC 8285 §4.3).
    private static let twoByteProfile: UInt16 = 0x1000

    /// The range of the data of the element with this id in `packet`, from which this header was parsed.
    ///
    /// It is `nil` if the packet has no such element, if the extension is of another profile, or if an earlier element
    /// exceeds the extension.
    package func extensionElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        guard !extensionRange.isEmpty else { return nil }
        if extensionProfile == Self.oneByteProfile { return oneByteElement(id, in: packet) }
        if extensionProfile & 0xFFF0 == Self.twoByteProfile { return twoByteElement(id, in: packet) }
        return nil
    }

    /// Overwrites an element with padding (RFC 8285 §4.1.2). The packet keeps its length, and receivers ignore the
    /// padding.
    ///
    /// - Parameters:
    ///   - data: The offset of the element's data, from `extensionElement`.
    ///   - count: The length of the data in bytes.
    ///   - packet: The packet from which this header was parsed.
    package func eraseElement(at data: Int, count: Int, in packet: inout MutableSpan<UInt8>) {
        let header = extensionProfile == Self.oneByteProfile ? 1 : 2
        for index in (data - header)..<(data + count) { packet[index] = 0 }
    }

    /// Whether the extension of this header can have an element with this id (RFC 8285 §4.2, §4.3).
    package func takesElement(_ id: UInt8) -> Bool { extensionProfile == Self.oneByteProfile ? 1...14 ~= id : id != 0 }

    /// Overwrites an element of two bytes with another one of two bytes.
    ///
    /// - Parameters:
    ///   - data: The offset of the element's data, from `extensionElement`.
    ///   - id: The id of the new element, for which `takesElement` holds.
    ///   - value: Its data, in network byte order.
    ///   - packet: The packet from which this header was parsed.
    package func replaceElement(at data: Int, by id: UInt8, _ value: UInt16, in packet: inout MutableSpan<UInt8>) {
        if extensionProfile == Self.oneByteProfile {
            packet[data - 1] = id << 4 | 1
        } else {
            packet[data - 2] = id
            packet[data - 1] = 2
        }
        packet.setBigEndian16(value, at: data)
    }

    /// Inserts an element before those that the packet has. A packet without an extension gets one with one-byte
    /// headers. The packet stays as it is if it has the element already, or if its extension cannot have it.
    ///
    /// - Parameters:
    ///   - id: The id of the element.
    ///   - data: Its data, 1 to 16 bytes.
    ///   - packet: The packet from which this header was parsed. It gets longer by a multiple of four bytes.
    package func insertElement(_ id: UInt8, _ data: [UInt8], into packet: inout [UInt8]) {
        let hasExtension = packet[0] & 0x10 != 0
        let isOneByte = !hasExtension || extensionProfile == Self.oneByteProfile
        guard isOneByte || extensionProfile & 0xFFF0 == Self.twoByteProfile, isOneByte ? 1...14 ~= id : id != 0,
            1...16 ~= data.count, extensionElement(id, in: packet.span) == nil
        else { return }
        var element = isOneByte ? [id << 4 | UInt8(data.count - 1)] : [id, UInt8(data.count)]
        element += data
        while element.count % 4 != 0 { element.append(0) }
        let start = extensionRange.lowerBound
        let words = UInt16(extensionRange.count / 4 + element.count / 4)
        guard hasExtension else {
            packet[0] |= 0x10
            let profile = [UInt8(Self.oneByteProfile >> 8), UInt8(Self.oneByteProfile & 0xFF)]
            return packet.insert(contentsOf: profile + [0, UInt8(words)] + element, at: start)
        }
        packet.insert(contentsOf: element, at: start)
        var span = packet.mutableSpan
        span.setBigEndian16(words, at: start - 2)
    }

    /// Gives each element the id of its receiver. Elements that the receiver has not negotiated, or that cannot be
    /// parsed, become padding. The packet keeps its length. An id above 14 does not fit a one-byte header, so such an
    /// element is lost.
    package func renumberElements(by numbering: ExtensionNumbering, in packet: inout MutableSpan<UInt8>) {
        guard !extensionRange.isEmpty, !numbering.isIdentity else { return }
        if extensionProfile == Self.oneByteProfile {
            renumberOneByteElements(by: numbering, in: &packet)
        } else if extensionProfile & 0xFFF0 == Self.twoByteProfile {
            renumberTwoByteElements(by: numbering, in: &packet)
        }
    }

    private func renumberOneByteElements(by numbering: ExtensionNumbering, in packet: inout MutableSpan<UInt8>) {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let header = packet[offset]
            let (id, end) = (header >> 4, offset + 2 + Int(header & 0x0F))
            if header == 0 {
                offset += 1
                continue
            }
            guard id != 0, id != 15, end <= extensionRange.upperBound else {
                return erase(offset..<extensionRange.upperBound, in: &packet)
            }
            let renumbered = numbering[id]
            if 1...14 ~= renumbered {
                packet[offset] = renumbered << 4 | header & 0x0F
            } else {
                erase(offset..<end, in: &packet)
            }
            offset = end
        }
    }

    private func renumberTwoByteElements(by numbering: ExtensionNumbering, in packet: inout MutableSpan<UInt8>) {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let id = packet[offset]
            if id == 0 {
                offset += 1
                continue
            }
            let end = offset + 1 < extensionRange.upperBound ? offset + 2 + Int(packet[offset + 1]) : Int.max
            guard end <= extensionRange.upperBound else {
                return erase(offset..<extensionRange.upperBound, in: &packet)
            }
            let renumbered = numbering[id]
            if renumbered != 0 { packet[offset] = renumbered } else { erase(offset..<end, in: &packet) }
            offset = end
        }
    }

    private func erase(_ range: Range<Int>, in packet: inout MutableSpan<UInt8>) {
        for index in range { packet[index] = 0 }
    }

    /// The element headers have four bits of id and four bits of length minus one (RFC 8285 §4.2).
    private func oneByteElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let header = packet[offset]
            offset += 1
            // A zero byte is padding. An id of 0 with a length, or an id of 15, ends the search.
            if header == 0 { continue }
            let found = header >> 4
            guard found != 0, found != 15 else { return nil }
            let end = offset + Int(header & 0x0F) + 1
            guard end <= extensionRange.upperBound else { return nil }
            if found == id { return offset..<end }
            offset = end
        }
        return nil
    }

    /// The element headers have a byte of id and a byte of length (RFC 8285 §4.3). An id of 0 is one byte of padding.
    private func twoByteElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let found = packet[offset]
            offset += 1
            if found == 0 { continue }
            guard offset < extensionRange.upperBound else { return nil }
            let end = offset + 1 + Int(packet[offset])
            guard end <= extensionRange.upperBound else { return nil }
            if found == id { return (offset + 1)..<end }
            offset = end
        }
        return nil
    }
}
