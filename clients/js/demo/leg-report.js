/**
 * What a browser says about its leg to the gateway: a few figures out of `RTCPeerConnection.getStats()`.
 * @typedef {{codec: ?string, receivedBits: number, sentBits: number, lost: number}} Medium  bits per second
 */

/**
 * @param {RTCPeerConnection} pc
 * @param {?object} previous  the report before this one; bit rates come from the difference
 */
export async function reportLeg(pc, previous) {
  const stats = await pc.getStats();
  const all = [...stats.values()];
  const transport = all.find((entry) => entry.type === 'transport');
  const pair = stats.get(transport?.selectedCandidatePairId);
  return {
    at: performance.now(),
    pair: pair && {
      local: endpoint(stats.get(pair.localCandidateId)),
      remote: endpoint(stats.get(pair.remoteCandidateId)),
      protocol: stats.get(pair.localCandidateId)?.protocol,
      roundTrip: pair.currentRoundTripTime,
    },
    keys: transport?.srtpCipher && { tls: tlsVersion(transport.tlsVersion), srtp: transport.srtpCipher },
    audio: medium('audio', stats, all, previous),
    video: medium('video', stats, all, previous),
  };
}

function medium(kind, stats, all, previous) {
  const received = all.find((entry) => entry.type === 'inbound-rtp' && entry.kind === kind);
  const sent = all.find((entry) => entry.type === 'outbound-rtp' && entry.kind === kind);
  if (!received && !sent) return null;
  const before = previous?.[kind];
  const seconds = (performance.now() - (previous?.at ?? 0)) / 1000;
  const rate = (now, then) => (before && now >= then ? ((now - then) * 8) / seconds : 0);
  const bytesReceived = received?.bytesReceived ?? 0;
  const bytesSent = sent?.bytesSent ?? 0;
  return {
    codec: stats.get(received?.codecId ?? sent?.codecId)?.mimeType.split('/')[1] ?? null,
    receivedBits: rate(bytesReceived, before?.bytesReceived),
    sentBits: rate(bytesSent, before?.bytesSent),
    bytesReceived,
    bytesSent,
    ssrc: received?.ssrc ?? null,
    packets: received?.packetsReceived ?? 0,
    lost: received?.packetsLost ?? 0,
    energy: received?.totalAudioEnergy ?? 0,
    framesDecoded: received?.framesDecoded ?? 0,
    width: received?.frameWidth,
    height: received?.frameHeight,
  };
}

function endpoint(candidate) {
  if (!candidate) return null;
  const address = candidate.address ?? '?';
  return `${address.includes(':') ? `[${address}]` : address}:${candidate.port}`;
}

/** `FEFD` is how DTLS 1.2 is written in a record. */
function tlsVersion(code) {
  return { FEFD: 'DTLS 1.2', FEFC: 'DTLS 1.3', FEFF: 'DTLS 1.0' }[code?.toUpperCase()] ?? 'DTLS';
}
