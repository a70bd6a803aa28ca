/**
 * The media of one call: microphone and camera, the peer connection, and the descriptions that go back and forth.
 * It knows nothing of signalling; `spidr-session.js` carries the descriptions.
 *
 * Hold is a matter of directions (RFC 3264 §8.4). Whoever holds offers `inactive` for every section, or with `holdWith:
 * 'sendonly'` leaves the way open on which the other side hears music; both sides holding is `inactive` in either
 * dialect.
 */
const GATHERING_LIMIT = 1_000;

/** Directions that say: the other party keeps us waiting. */
const SILENT = new Set(['inactive', 'sendonly']);

export class CallMedia extends EventTarget {
  #holdWith;
  #tell;

  /**
   * @param {object} options
   * @param {'inactive'|'sendonly'} options.holdWith
   * @param {(text: string) => void} options.tell  hears of what is missing, e.g. a camera
   */
  constructor({ holdWith, tell }) {
    super();
    this.#holdWith = holdWith;
    this.#tell = tell;
    this.pc = null;
    this.localStream = null;
    this.remoteStream = new MediaStream();
    this.holding = false;
    this.remotelyHeld = false;
    /** Whether the gateway hears nothing of this side, and says so: then `disconnected` will not pass by itself. */
    this.isUnheard = false;
  }

  /**
   * Captures what is wished, or what there is of it, and makes the connection. Event `change`: one of the streams did;
   * `needed`: something has to be agreed on anew.
   */
  async open(wanted) {
    this.localStream = await capture(wanted, this.#tell);
    this.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
    this.pc.ontrack = ({ track }) => {
      this.remoteStream.addTrack(track);
      this.#changed();
    };
    this.pc.onnegotiationneeded = () => this.dispatchEvent(new Event('needed'));
    this.pc.oniceconnectionstatechange = () => {
      if (this.pc.iceConnectionState === 'failed' || this.isUnheard) this.restartIfLost();
    };
    this.#changed();
  }

  /** Looks for another path if there is none any more (event `needed`). @returns {boolean} whether that was so */
  restartIfLost() {
    const isLost = ['disconnected', 'failed'].includes(this.pc?.iceConnectionState);
    if (isLost) this.pc.restartIce();
    return isLost;
  }

  get isClosed() { return this.pc?.signalingState === 'closed'; }

  close() {
    this.pc?.close();
    for (const track of this.localStream?.getTracks() ?? []) track.stop();
  }

  // MARK: Descriptions

  /**
   * Makes an offer and applies it.
   * @param {string[]} [sections]  kinds of the m-lines there have to be, in order: those of the connection that this
   *     one replaces
   */
  async offer(sections) {
    const { pc } = this;
    if (pc.getTransceivers().length === 0) this.#addLocalTracks(sections ?? ['audio']);
    await pc.setLocalDescription(await this.#makeOffer());
    return this.#gathered();
  }

  /**
   * Makes an offer that changes nothing before it is committed: browsers do not get over a rollback well.
   * @returns {Promise<{sdp: string, commit: () => Promise}>}
   */
  async propose(sections) {
    if (!this.pc.currentLocalDescription) return { sdp: await this.offer(sections), commit: async () => {} };
    const offer = await this.#makeOffer();
    return { sdp: offer.sdp, commit: () => this.pc.setLocalDescription(offer) };
  }

  #makeOffer() {
    this.#direct(this.remotelyHeld ? 'inactive' : this.#holdWith);
    return this.pc.createOffer();
  }

  async answer(offer) {
    const { pc } = this;
    await pc.setRemoteDescription({ type: 'offer', sdp: offer });
    this.remotelyHeld = SILENT.has(audioDirection(offer));
    if (pc.getSenders().every((sender) => sender.track === null)) this.#addOfferedTracks();
    this.#direct(this.#holdWith, directions(offer));
    await pc.setLocalDescription(await pc.createAnswer());
    return this.#gathered();
  }

  /** Whether an offer of this side waits for its answer. */
  get isOffering() { return this.pc.signalingState === 'have-local-offer'; }

  async accept(sdp) {
    const offered = audioDirection(this.pc.localDescription.sdp);
    await this.pc.setRemoteDescription({ type: 'answer', sdp });
    // The other side answers `inactive` with the same whether it holds or not; silence in answer to anything else means
    // that the other side holds.
    if (offered !== 'inactive') this.remotelyHeld = SILENT.has(audioDirection(sdp));
  }

  /** Takes early media. @returns {boolean} whether the browser can; if not, it still waits for the answer */
  async acceptProvisionally(sdp) {
    try {
      await this.pc.setRemoteDescription({ type: 'pranswer', sdp });
      return true;
    } catch (error) {
      if (this.pc.signalingState !== 'have-local-offer') throw error;
      return false;
    }
  }

  /** The offer will not be answered: back to what was agreed before. */
  async rollback() {
    for (const transceiver of this.#transceivers()) {
      transceiver.direction = transceiver.currentDirection ?? transceiver.direction;
    }
    if (this.pc.signalingState === 'have-local-offer') await this.pc.setLocalDescription({ type: 'rollback' });
  }

  /** Kinds of the m-lines, for a connection that is to replace this one. */
  get sections() {
    return [...(this.pc?.localDescription?.sdp ?? '').matchAll(/^m=(\w+)/gm)].map(([, kind]) => kind);
  }

  // MARK: Camera

  get sendsVideo() { return this.localStream?.getVideoTracks().length > 0; }

  get receivesVideo() {
    const receives = ({ currentDirection }) => /^(sendrecv|recvonly)$/.test(currentDirection);
    return this.pc !== null && this.#transceivers('video').some(receives);
  }

  /** Starts the camera; the next offer tells. Throws if there is none. */
  async startCamera() {
    const [track] = (await navigator.mediaDevices.getUserMedia({ video: true })).getVideoTracks();
    this.localStream.addTrack(track);
    const unused = this.#transceivers('video').find(({ sender }) => sender.track === null);
    if (unused) await unused.sender.replaceTrack(track);
    else this.pc.addTrack(track, this.localStream);
    this.#changed();
  }

  /** Stops the camera; pictures of the other side still come. */
  async stopCamera() {
    for (const transceiver of this.#transceivers('video')) {
      await transceiver.sender.replaceTrack(null);
      if (transceiver.mid === null) transceiver.stop(); // was never agreed on
    }
    for (const track of this.localStream.getVideoTracks()) {
      track.stop();
      this.localStream.removeTrack(track);
    }
    this.#changed();
  }

  /** Presses DTMF digits: telephone events (RFC 4733). @returns {boolean} whether they can be sent */
  press(digits) {
    const sender = this.pc?.getSenders().find(({ dtmf }) => dtmf?.canInsertDTMF);
    sender?.dtmf.insertDTMF(digits, 120, 80);
    return sender !== undefined;
  }

  // MARK: Parts

  /**
   * The caller says which kinds there are. What it does not offer is turned off: sent later, it would come as an offer
   * that nobody made.
   */
  #addOfferedTracks() {
    const offered = new Set(this.#transceivers().map(({ receiver }) => receiver.track.kind));
    for (const track of this.localStream.getTracks()) {
      if (offered.has(track.kind)) {
        this.pc.addTrack(track, this.localStream);
      } else {
        track.stop();
        this.localStream.removeTrack(track);
      }
    }
    this.#changed();
  }

  #addLocalTracks(sections) {
    const tracks = this.localStream.getTracks();
    const kinds = [...sections, ...tracks.map(({ kind }) => kind).filter((kind) => !sections.includes(kind))];
    for (const kind of kinds) {
      const track = tracks.find((each) => each.kind === kind);
      // Without a microphone the other party can still be heard.
      if (track) this.pc.addTrack(track, this.localStream);
      else this.pc.addTransceiver(kind, { direction: 'recvonly' });
    }
  }

  /**
   * What this side wants of each section.
   * @param {string} held  direction of what it holds
   * @param {Map<string, string>} [offered]  directions by mid of the offer that is answered: the answer is narrowed to
   *     them. Browsers narrow it by themselves, but Firefox then wants to negotiate what it was not offered.
   */
  #direct(held, offered) {
    for (const transceiver of this.#transceivers()) {
      const sends = transceiver.sender.track !== null;
      const open = sends ? 'sendrecv' : 'recvonly';
      const closed = sends ? held : 'inactive';
      transceiver.direction = narrowed(this.holding ? closed : open, offered?.get(transceiver.mid) ?? 'sendrecv');
    }
  }

  #transceivers(kind) {
    return this.pc.getTransceivers().filter(({ direction, receiver }) =>
      direction !== 'stopped' && (!kind || receiver.track.kind === kind));
  }

  /** The local description with its candidates: the gateway wants them all at once, and has enough after a second. */
  async #gathered() {
    const { pc } = this;
    if (pc.iceGatheringState !== 'complete') {
      await new Promise((resolve) => {
        const limit = setTimeout(resolve, GATHERING_LIMIT);
        pc.addEventListener('icegatheringstatechange', () => {
          if (pc.iceGatheringState === 'complete') resolve(clearTimeout(limit));
        });
      });
    }
    return pc.localDescription.sdp;
  }

  #changed() { this.dispatchEvent(new Event('change')); }
}

/** Camera and microphone as wished, or what there is of them; each thing missing is told. */
async function capture({ audio = true, video = false }, tell) {
  const devices = navigator.mediaDevices;
  if (!devices) {
    tell('This page may not use camera and microphone: it needs https or 127.0.0.1. You can only listen.');
    return new MediaStream();
  }
  if (audio && video) {
    try {
      return await devices.getUserMedia({ audio, video });
    } catch (error) {
      tell(`No camera (${error.message}): going on with audio only.`);
    }
  }
  try {
    return await devices.getUserMedia({ audio, video: video && !audio });
  } catch (error) {
    tell(`No microphone (${error.message}): you can only listen.`);
    return new MediaStream();
  }
}

/** The direction of the first audio section. */
function audioDirection(sdp) {
  return sections(sdp).find(({ kind }) => kind === 'audio')?.direction ?? 'sendrecv';
}

/** The direction of each section of a description, by its mid. */
function directions(sdp) {
  return new Map(sections(sdp).map(({ mid, direction }) => [mid, direction]));
}

/** The sections of a description. A direction before the first section is that of all sections without one. */
function sections(sdp) {
  const [head, ...texts] = sdp.split(/^(?=m=)/m);
  const said = (text) => /^a=(sendrecv|sendonly|recvonly|inactive)\s*$/m.exec(text)?.[1];
  return texts.map((text) => ({
    kind: /^m=(\w+)/.exec(text)[1],
    mid: /^a=mid:(\S+)/m.exec(text)?.[1],
    direction: said(text) ?? said(head) ?? 'sendrecv',
  }));
}

/** The direction that this side can answer if it wishes `wish` and the other side offers `offered`. */
function narrowed(wish, offered) {
  const sends = wish.startsWith('send') && offered.includes('recv');
  const receives = wish.includes('recv') && offered.startsWith('send');
  if (sends) return receives ? 'sendrecv' : 'sendonly';
  return receives ? 'recvonly' : 'inactive';
}
