/**
 * One call of a `SpidrClient`, from the first ring to the reason why it ended.
 *
 *     outgoing   INITIAL ─▶ DIALING ─▶ RINGING ⇄ SESSION_PROGRESS ─▶ IN_CALL ─▶ ENDED
 *     incoming   INITIAL ─▶ RINGING ─▶ ANSWERING ─▶ IN_CALL ─▶ ENDED
 *
 * Every state may go to ENDED. Events, all `CustomEvent`s:
 *
 * | event    | `detail`                                                                            |
 * |----------|-------------------------------------------------------------------------------------|
 * | `state`  | `{state, previous}`; once ENDED, `call.endReason` is `{code, text, by, error}`      |
 * | `media`  | none: `localStream` or `remoteStream` changed                                       |
 * | `notice` | `{text}`: the call goes on with less than was asked for, e.g. without a camera      |
 */
export const CallState = Object.freeze({
  INITIAL: 'INITIAL',
  DIALING: 'DIALING',
  SESSION_PROGRESS: 'SESSION_PROGRESS',
  RINGING: 'RINGING',
  ANSWERING: 'ANSWERING',
  IN_CALL: 'IN_CALL',
  ENDED: 'ENDED',
});

/** Reasons a device finds by itself; other codes come from the far side and are SIP's (404, 486, 603 …). */
export const EndCode = Object.freeze({
  NO_REASON: 9900,
  LOCAL: 9901,
  REJECTED: 9902,
  ANSWERED_ELSEWHERE: 9904,
  COMPLETED: 9905,
  ERROR: 9906,
  UNREGISTERED: 9907,
  AUDIT_FAILED: 9909,
});

const AUDIT_INTERVAL = 25_000;
const AUDIT_TIME_OUT = 4_000;
const GATHERING_LIMIT = 1_000;
const NO_SUCH_CALL = 42;
const GLARE = 49;

export class Call extends EventTarget {
  #client;
  #state = CallState.INITIAL;
  #offer; // the caller's description, until it is answered
  #auditTimer;
  #work = Promise.resolve(); // descriptions are applied one after the other

  /** @internal Calls are made by `SpidrClient.call()` and by its `incoming` event. */
  constructor({ client, direction, remote, remoteName, sessionData, offer }) {
    super();
    this.#client = client;
    this.#offer = offer;
    this.direction = direction;
    /** Address and name of the other party. */
    this.remote = remote;
    this.remoteName = remoteName || null;
    this.sessionData = sessionData;
    this.pc = null;
    this.localStream = null;
    this.remoteStream = new MediaStream();
    this.connectedAt = null;
    this.endReason = null;
  }

  get state() { return this.#state; }

  // MARK: What a user can do

  /** Answers a ringing call. */
  async answer(media = { audio: true, video: false }) {
    this.#expect(CallState.RINGING, 'incoming', 'answer');
    this.#moveTo(CallState.ANSWERING);
    try {
      await this.#openMedia(media);
      // An offer that is missing is asked for: this side offers, `respondCallUpdate` will bring the answer.
      const sdp = this.#offer ? await this.#answerTo(this.#offer) : await this.#makeOffer();
      await this.#operate('callAnswer', { sdp });
      this.#moveTo(CallState.IN_CALL);
    } catch (error) {
      if (this.#state === CallState.ENDED) return; // the caller gave up while the answer was being made
      if (error.code === 'call.already_answered') {
        this.finish({ code: EndCode.ANSWERED_ELSEWHERE, text: 'answered elsewhere', by: 'remote', error });
      } else {
        this.#fail(error);
      }
      throw error;
    }
  }

  /** Refuses a ringing call on all of this user's devices. */
  async reject() {
    this.#expect(CallState.RINGING, 'incoming', 'reject');
    const { sessionData } = this;
    this.finish({ code: EndCode.REJECTED, text: 'rejected', by: 'local' });
    await this.#client.request('POST', '/calldisposition', { callDispositionRequest: { action: 'reject', sessionData } });
  }

  /** Hangs up, or gives up a call that has not been answered yet. The other party sees the reason. */
  async end(reason) {
    if (this.#state === CallState.ENDED) return;
    this.finish({ code: EndCode.LOCAL, text: reason ?? 'ended here', by: 'local' });
    if (this.sessionData) await this.#hangUp(reason);
    // Otherwise `dial` hangs up as soon as it knows the session.
  }

  /** Resolves once the call has come to `state`; rejects if it ends before that. */
  reached(state) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#state === state) resolve();
        else if (this.#state === CallState.ENDED) reject(this.endReason.error ?? new Error(`the call ended: ${this.endReason.text}`));
        else return;
        this.removeEventListener('state', look);
      };
      this.addEventListener('state', look);
      look();
    });
  }

  /** Silences the microphone; nothing is signalled. */
  mute(muted = true) { for (const track of this.localStream?.getAudioTracks() ?? []) track.enabled = !muted; }
  get muted() { return this.localStream?.getAudioTracks().some((track) => !track.enabled) ?? false; }

  /** Sends black frames instead of the camera's picture; nothing is signalled. */
  hideCamera(hidden = true) { for (const track of this.localStream?.getVideoTracks() ?? []) track.enabled = !hidden; }
  get cameraHidden() { return this.localStream?.getVideoTracks().some((track) => !track.enabled) ?? false; }

  // MARK: For SpidrClient

  /** @internal Runs an outgoing call up to the gateway's consent; what goes wrong ends the call. */
  async dial(media) {
    this.#moveTo(CallState.DIALING);
    try {
      await this.#openMedia(media);
      const sdp = await this.#makeOffer();
      if (this.#state === CallState.ENDED) return;
      await this.#client.start(this, {
        callControlRequest: { type: 'callStart', from: `sip:${this.#client.user}`, to: sipAddress(this.remote), sdp, supported: ['earlymedia'] },
      });
      if (this.#state === CallState.ENDED) {
        this.#client.forget(this);
        await this.#hangUp(this.endReason.text);
      } else {
        this.#startAudits();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @internal An incoming call has arrived. */
  ring() {
    this.#moveTo(CallState.RINGING);
    this.#startAudits();
    if (this.#client.ringingFeedback) this.#operate('ringing').catch((error) => this.#notice(error));
  }

  /** @internal A notification for this session. */
  receive({ eventType, statusCode, sessionParams }) {
    const { sdp, statusCode: endCode, reasonText } = sessionParams;
    switch (eventType) {
      case 'ringing':
        if (this.#state === CallState.DIALING || this.#state === CallState.SESSION_PROGRESS) this.#moveTo(CallState.RINGING);
        break;
      case 'sessionProgress':
        if (sdp) this.#enqueue(() => this.#earlyMedia(sdp));
        break;
      case 'respondCallUpdate':
        if (Number(statusCode) === GLARE) this.#notice(new Error(reasonText ?? 'both sides changed the call at once'));
        else if (sdp) this.#enqueue(() => this.#answered(sdp));
        break;
      case 'startCallUpdate':
        this.#enqueue(() => this.#respondToUpdate(sdp));
        break;
      case 'callCancel': // also sent to the device that answered or rejected: no news there
        if (this.direction === 'incoming' && this.#state === CallState.RINGING) {
          this.finish({ code: EndCode.ANSWERED_ELSEWHERE, text: 'answered elsewhere', by: 'remote' });
        }
        break;
      case 'callEnd':
        this.finish({ code: Number(endCode ?? EndCode.NO_REASON), text: reasonText || 'no reason given', by: 'remote' });
        break;
      case 'sessionComplete': // moved to another call; the session waits for our DELETE
        this.finish({ code: EndCode.COMPLETED, text: reasonText || 'completed', by: 'remote' });
        this.#hangUp().catch((error) => this.#client.reportError(error));
        break;
    }
  }

  /** @internal After a reconnection: does the gateway still know this call? */
  async verify() {
    try {
      await this.#client.request('GET', this.#path);
    } catch (error) {
      if (error.httpStatus === 404) this.finish({ code: EndCode.ERROR, text: 'ended while disconnected', by: 'remote' });
      else this.#client.reportError(error);
    }
  }

  /** @internal The one way into ENDED. */
  finish(reason) {
    if (this.#state === CallState.ENDED) return;
    this.endReason = reason;
    clearInterval(this.#auditTimer);
    this.pc?.close();
    for (const track of this.localStream?.getTracks() ?? []) track.stop();
    this.#client.forget(this);
    this.#moveTo(CallState.ENDED);
  }

  // MARK: Media

  async #openMedia(wanted) {
    this.localStream = await captureMedia(wanted, (text) => this.#emit('notice', { text }));
    if (this.#state === CallState.ENDED) {
      for (const track of this.localStream.getTracks()) track.stop();
      throw new Error('the call has ended');
    }
    this.pc = new RTCPeerConnection({ bundlePolicy: 'max-bundle' });
    this.pc.ontrack = ({ track }) => {
      this.remoteStream.addTrack(track);
      this.#emit('media');
    };
    this.#emit('media');
  }

  #addLocalTracks() {
    for (const track of this.localStream.getTracks()) this.pc.addTrack(track, this.localStream);
    // Without a microphone the other party can still be heard.
    if (this.localStream.getAudioTracks().length === 0 && !this.#offer) this.pc.addTransceiver('audio', { direction: 'recvonly' });
  }

  async #makeOffer() {
    this.#addLocalTracks();
    await this.pc.setLocalDescription(await this.pc.createOffer());
    return this.#gathered();
  }

  async #answerTo(offer) {
    await this.pc.setRemoteDescription({ type: 'offer', sdp: offer });
    if (this.pc.getSenders().every((sender) => sender.track === null)) this.#addLocalTracks();
    await this.pc.setLocalDescription(await this.pc.createAnswer());
    return this.#gathered();
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

  async #earlyMedia(sdp) {
    await this.pc.setRemoteDescription({ type: 'pranswer', sdp });
    if (this.#state === CallState.DIALING || this.#state === CallState.RINGING) this.#moveTo(CallState.SESSION_PROGRESS);
  }

  async #answered(sdp) {
    await this.pc.setRemoteDescription({ type: 'answer', sdp });
    this.#moveTo(CallState.IN_CALL);
  }

  /** A re-offer is answered; an update without a description asks this side for an offer. */
  async #respondToUpdate(sdp) {
    let answer;
    if (sdp) {
      answer = await this.#answerTo(sdp);
    } else {
      await this.pc.setLocalDescription(await this.pc.createOffer());
      answer = await this.#gathered();
    }
    await this.#operate('respondCallUpdate', { sdp: answer });
  }

  /** Applies descriptions in the order in which they came. */
  #enqueue(step) {
    this.#work = this.#work.then(() => (this.#state === CallState.ENDED ? undefined : step())).catch((error) => this.#fail(error));
  }

  // MARK: Requests

  get #path() { return `/callControl/callSessions/${encodeURIComponent(this.sessionData)}`; }

  #operate(type, fields = {}, options) {
    return this.#client.request('PUT', this.#path, { callControlRequest: { type, ...fields } }, options);
  }

  #hangUp(reason) {
    return this.#client.request('DELETE', this.#path + (reason ? `?reasonText=${encodeURIComponent(reason)}` : ''));
  }

  /** Both sides tell the gateway that they are alive, and find out whether the call is. */
  #startAudits() {
    this.#auditTimer = setInterval(async () => {
      try {
        await this.#operate('audit', {}, { signal: AbortSignal.timeout(AUDIT_TIME_OUT) });
      } catch (error) {
        if (error.statusCode === NO_SUCH_CALL) this.finish({ code: EndCode.AUDIT_FAILED, text: 'the gateway no longer knows the call', by: 'remote' });
        else this.#client.reportError(error);
      }
    }, AUDIT_INTERVAL);
  }

  // MARK: States

  #expect(state, direction, operation) {
    if (this.#state !== state || this.direction !== direction) {
      throw new Error(`cannot ${operation} an ${this.direction} call in state ${this.#state}`);
    }
  }

  /** Something on this side went wrong: the call cannot go on, and the gateway is told so if it knows the call. */
  #fail(error) {
    if (this.#state === CallState.ENDED) return;
    this.finish({ code: EndCode.ERROR, text: error.message, by: 'local', error });
    if (this.sessionData && error.httpStatus !== 404) {
      this.#hangUp(error.message).catch((failure) => this.#client.reportError(failure));
    }
  }

  #notice(error) { this.#emit('notice', { text: error.message }); }

  #moveTo(state) {
    const previous = this.#state;
    if (state === previous || previous === CallState.ENDED) return;
    this.#state = state;
    if (state === CallState.IN_CALL) this.connectedAt ??= new Date();
    this.#emit('state', { state, previous });
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** Camera and microphone as wished, or what there is of them; each thing missing is told. */
async function captureMedia({ audio = true, video = false }, tell) {
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

/** `bob@dev.local` and `+1555` become SIP addresses; what has a scheme stays. */
function sipAddress(address) {
  return /^(sips?|tel):/i.test(address) ? address : `sip:${address}`;
}
