/**
 * One call of a `SpidrClient`, from the first ring to the reason why it ended.
 *
 *     outgoing   INITIAL ─▶ DIALING ─▶ RINGING ⇄ SESSION_PROGRESS ─▶ IN_CALL ─▶ ENDED
 *     incoming   INITIAL ─▶ RINGING ─▶ ANSWERING ─▶ IN_CALL ─▶ ENDED
 *
 *     IN_CALL ⇄ ON_HOLD         this side holds
 *     IN_CALL ⇄ REMOTELY_HELD   the other side does
 *     both    ⇄ ON_DOUBLE_HOLD
 *
 * Every state may go to ENDED. Events, all `CustomEvent`s:
 *
 * | event    | `detail`                                                                            |
 * |----------|-------------------------------------------------------------------------------------|
 * | `state`  | `{state, previous}`; once ENDED, `call.endReason` says why                          |
 * | `media`  | none: `localStream` or `remoteStream` changed                                       |
 * | `remote` | none: `remote` or `remoteName` changed, e.g. after a transfer elsewhere             |
 * | `busy`   | none: `isChanging` changed                                                          |
 * | `path`   | `{leg, state}`: the gateway has `lost` or `recovered` the media of `self` or `peer` |
 * | `notice` | `{text}`: the call goes on with less than was asked for, e.g. without a camera      |
 */
import { CallMedia } from './spidr-media.js';
import { Negotiation } from './spidr-negotiation.js';
import { CallState, EndCode } from './spidr-states.js';

const AUDIT_INTERVAL = 25_000;
const AUDIT_TIME_OUT = 4_000;
const NO_SUCH_CALL = 42;
const GLARE = 49;

export class Call extends EventTarget {
  #client;
  #state = CallState.INITIAL;
  #offer; // the caller's description, until it is answered
  #auditTimer;
  #negotiation;
  #transfer = null; // what `sessionComplete` or `sessionFail` decides: {resolve, reject}

  /** @internal Calls are made by `SpidrClient`. */
  constructor({ client, direction, remote, remoteName, sessionData, offer }) {
    super();
    this.#client = client;
    this.#offer = offer;
    this.direction = direction;
    /** Address and name of the other party. */
    this.remote = remote;
    this.remoteName = remoteName || null;
    this.sessionData = sessionData;
    this.media = new CallMedia({ holdWith: client.holdWith, tell: (text) => this.#emit('notice', { text }) });
    this.media.addEventListener('change', () => this.#emit('media'));
    this.#negotiation = new Negotiation(this.media, (type, fields) => this.#operate(type, fields));
    this.connectedAt = null;
    this.endReason = null;
  }

  get state() { return this.#state; }
  get pc() { return this.media.pc; }
  get localStream() { return this.media.localStream; }
  get remoteStream() { return this.media.remoteStream; }
  /** Whether it has been answered and has not ended, on hold or not. */
  get isConnected() { return this.connectedAt !== null && this.#state !== CallState.ENDED; }
  get holding() { return this.media.holding; }
  /** Whether a change of this side waits for the other side's answer. */
  get isChanging() { return this.#negotiation.isOpen || this.#transfer !== null; }

  // MARK: What a user can do

  /** Answers a ringing call. */
  async answer(media = { audio: true, video: false }) {
    if (this.#state !== CallState.RINGING || this.direction !== 'incoming') throw this.#unfit('answer');
    this.#moveTo(CallState.ANSWERING);
    try {
      await this.#open(media);
      // An offer that is missing is asked for: this side offers, `respondCallUpdate` will bring the answer.
      const sdp = this.#offer ? await this.media.answer(this.#offer) : await this.media.offer();
      await this.#operate('callAnswer', { sdp });
      this.#settle();
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
    if (this.#state !== CallState.RINGING || this.direction !== 'incoming') throw this.#unfit('reject');
    const { sessionData } = this;
    this.finish({ code: EndCode.REJECTED, text: 'rejected', by: 'local' });
    await this.#client.request('POST', '/calldisposition', { callDispositionRequest: { action: 'reject', sessionData } });
  }

  /** Hangs up, or gives up a call that has not been answered yet. The other party sees the reason. */
  async end(reason) {
    if (this.#state === CallState.ENDED) return;
    this.finish({ code: EndCode.LOCAL, text: reason ?? 'ended here', by: 'local' });
    if (this.sessionData) await this.#hangUp(reason);
    // Otherwise `dial` or `join` hangs up as soon as it knows the session.
  }

  /** Keeps the other side waiting. Like `resume` and `video` done when the other side has confirmed it; if not, nothing has changed. */
  async hold() { await this.#changeHold(true); }
  async resume() { await this.#changeHold(false); }

  /** Starts or stops the own camera in the middle of a call. */
  async video(on) {
    if (on === this.media.sendsVideo) return;
    const [go, back] = on ? ['startCamera', 'stopCamera'] : ['stopCamera', 'startCamera'];
    await this.#change('change video', () => this.media[go](), () => this.media[back]());
  }

  /**
   * Connects the other side with somebody else and leaves; puts it on hold before. Done when the other two talk, and the call has
   * ended then; rejects if it did not come about, and the call is on hold as it was.
   * @param {string|Call} target  an address, or another call of this client, whose party is the one to be talked to
   */
  async transfer(target) {
    if (!this.isConnected) throw this.#unfit('transfer');
    if (!this.holding) await this.hold();
    const consulted = target instanceof Call ? { address: sipAddress(target.remote), sessionData: target.sessionData } : null;
    const outcome = new Promise((resolve, reject) => { this.#transfer = { resolve, reject }; });
    outcome.catch(() => {}); // thrown below
    this.#emit('busy');
    try {
      await this.#operate('transfer', consulted ?? { address: sipAddress(target) });
      await outcome;
    } finally {
      this.#transfer = null;
      this.#emit('busy');
    }
  }

  /** Presses keys (0-9, *, #, A-D), one after the other. */
  press(digits) {
    if (!this.media.press(digits)) this.#emit('notice', { text: 'The other side takes no keys now.' });
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
    await this.#start(media, { type: 'callStart', from: `sip:${this.#client.user}`, to: sipAddress(this.remote), supported: ['earlymedia'] });
  }

  /** @internal The call that two others become. */
  async join(first, second) {
    await this.#start({ audio: true }, { type: 'join', firstSessionData: first.sessionData, secondSessionData: second.sessionData });
  }

  /** @internal An incoming call has arrived. */
  ring() {
    this.#moveTo(CallState.RINGING);
    this.#startAudits();
    if (this.#client.ringingFeedback) this.#operate('ringing').catch((error) => this.#notice(error));
  }

  /** @internal A notification for this session. */
  receive({ eventType, statusCode, sessionParams, callNotificationParams, mediaPath }) {
    const { sdp, statusCode: endCode, reasonText, cause } = sessionParams;
    if (eventType === 'startCallUpdate' || eventType === 'respondCallUpdate') this.#learn(callNotificationParams ?? {});
    switch (eventType) {
      case 'ringing':
        if (this.#state === CallState.DIALING || this.#state === CallState.SESSION_PROGRESS) this.#moveTo(CallState.RINGING);
        break;
      case 'sessionProgress':
        if (sdp) this.#inTurn(() => this.#earlyMedia(sdp));
        break;
      case 'respondCallUpdate':
        if (Number(statusCode) === GLARE) this.#glared(new Error(reasonText ?? 'both sides changed the call at once'));
        else if (sdp) this.#inTurn(() => this.#negotiation.answered(sdp).then(() => this.#settle()));
        break;
      case 'startCallUpdate':
        this.#inTurn(() => this.#negotiation.respond(sdp).then(() => this.#settle()));
        break;
      case 'callCancel': // also sent to the device that answered or rejected: no news there
        if (this.direction === 'incoming' && this.#state === CallState.RINGING) {
          this.finish({ code: EndCode.ANSWERED_ELSEWHERE, text: 'answered elsewhere', by: 'remote', cause });
        }
        break;
      case 'callEnd':
        this.finish({ code: Number(endCode ?? EndCode.NO_REASON), text: reasonText || 'no reason given', by: 'remote', cause });
        break;
      case 'mediaPath':
        this.#emit('path', mediaPath);
        break;
      case 'sessionComplete': // moved to another call; the session waits for our DELETE
        this.#transfer?.resolve();
        this.finish({ code: EndCode.COMPLETED, text: reasonText || 'completed', by: 'remote' });
        this.#hangUp().catch((error) => this.#client.reportError(error));
        break;
      case 'sessionFail': {
        const error = new Error(reasonText || 'the gateway gave no reason');
        if (this.#transfer) this.#transfer.reject(error);
        else if (!this.isConnected) this.finish({ code: Number(endCode ?? EndCode.ERROR), text: error.message, by: 'remote', error });
        break;
      }
    }
  }

  /** @internal After a reconnection: does the gateway still know this call? */
  async verify() {
    await this.#client.request('GET', this.#path).catch((error) => {
      if (error.httpStatus === 404) this.finish({ code: EndCode.ERROR, text: 'ended while disconnected', by: 'remote' });
      else this.#client.reportError(error);
    });
  }

  /** @internal What a page that is loaded again needs to go on with the call; plain JSON. */
  get snapshot() {
    const { sessionData, direction, remote, remoteName, holding, connectedAt } = this;
    return {
      sessionData, direction, remote, remoteName, holding,
      connectedAt: connectedAt?.getTime() ?? null,
      remotelyHeld: this.media.remotelyHeld,
      video: Boolean(this.media.sendsVideo),
      sections: this.media.sections,
      offer: this.#state === CallState.RINGING ? this.#offer : undefined,
    };
  }

  /** @internal Goes on with a call of an earlier page: new media, offered to the gateway, which tells the other side nothing of it. */
  async restore({ connectedAt, holding, remotelyHeld, video, sections }) {
    if (connectedAt === null && this.direction === 'incoming') return this.ring();
    if (connectedAt === null) return this.end('the page was loaded again'); // its offer went with the old page
    this.connectedAt = new Date(connectedAt);
    Object.assign(this.media, { holding, remotelyHeld });
    this.#startAudits();
    this.#settle();
    const opened = this.#negotiation.afterOthers(() => this.#open({ audio: true, video })); // before what comes meanwhile is applied
    await Promise.all([this.verify(), opened]);
    if (this.isConnected) await this.#change('come back', () => {}, () => {}, sections);
  }

  /** @internal The one way into ENDED. */
  finish(reason) {
    if (this.#state === CallState.ENDED) return;
    this.endReason = reason;
    clearInterval(this.#auditTimer);
    this.media.close();
    this.#client.forget(this);
    const over = new Error(`the call ended: ${reason.text}`);
    this.#negotiation.fail(over);
    this.#transfer?.reject(over); // unless it has come about
    this.#moveTo(CallState.ENDED);
  }

  // MARK: Descriptions

  async #open(media) {
    await this.media.open(media);
    if (this.#state !== CallState.ENDED) return;
    this.media.close();
    throw new Error('the call has ended');
  }

  async #start(media, body) {
    this.#moveTo(CallState.DIALING);
    try {
      await this.#open(media);
      const sdp = await this.media.offer();
      if (this.#state === CallState.ENDED) return;
      await this.#client.start(this, { callControlRequest: { ...body, sdp } });
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

  async #changeHold(holding) {
    if (this.holding === holding) return;
    const set = (value) => { this.media.holding = value; };
    await this.#change(holding ? 'hold' : 'resume', () => set(holding), () => set(!holding));
  }

  async #change(what, apply, undo, sections) {
    if (!this.isConnected) throw this.#unfit(what);
    const change = this.#negotiation.change(apply, undo, sections);
    this.#emit('busy');
    try {
      await change;
    } finally {
      this.#settle();
      this.#emit('busy');
    }
  }

  async #earlyMedia(sdp) {
    await this.media.accept(sdp, 'pranswer');
    if (this.#state === CallState.DIALING || this.#state === CallState.RINGING) this.#moveTo(CallState.SESSION_PROGRESS);
  }

  #glared(error) {
    if (!this.#negotiation.fail(error)) this.#notice(error);
  }

  /** Descriptions are applied in the order in which they came; one that cannot be ends the call. */
  #inTurn(step) {
    this.#negotiation.afterOthers(() => (this.#state === CallState.ENDED ? undefined : step())).catch((error) => this.#fail(error));
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

  /** The caller's names count for incoming calls and for conferences, the remote ones otherwise. */
  #learn({ callerName, callerDisplayNumber, remoteName, remoteDisplayNumber }) {
    const isCaller = this.direction === 'incoming' || callerDisplayNumber?.startsWith('conference@');
    const [name, address] = isCaller ? [callerName, callerDisplayNumber] : [remoteName, remoteDisplayNumber];
    if (!address || (address === this.remote && (name || null) === this.remoteName)) return;
    this.remote = address;
    this.remoteName = name || null;
    this.#emit('remote');
  }

  #unfit(operation) { return new Error(`cannot ${operation} an ${this.direction} call in state ${this.#state}`); }

  /** Something on this side went wrong: the call cannot go on, and the gateway is told so if it knows the call. */
  #fail(error) {
    if (this.#state === CallState.ENDED) return;
    this.finish({ code: EndCode.ERROR, text: error.message, by: 'local', error });
    if (this.sessionData && error.httpStatus !== 404) {
      this.#hangUp(error.message).catch((failure) => this.#client.reportError(failure));
    }
  }

  #notice(error) { this.#emit('notice', { text: error.message }); }

  /** The state of an answered call follows from who holds, once it is agreed on. */
  #settle() {
    if (this.#negotiation.isOpen || this.#state === CallState.ENDED) return;
    this.connectedAt ??= new Date();
    const { holding, remotelyHeld } = this.media;
    if (holding) this.#moveTo(remotelyHeld ? CallState.ON_DOUBLE_HOLD : CallState.ON_HOLD);
    else this.#moveTo(remotelyHeld ? CallState.REMOTELY_HELD : CallState.IN_CALL);
  }

  #moveTo(state) {
    const previous = this.#state;
    if (state === previous || previous === CallState.ENDED) return;
    this.#state = state;
    this.#emit('state', { state, previous });
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** `bob@dev.local` and `+1555` become SIP addresses; what has a scheme stays. */
function sipAddress(address) {
  return /^(sips?|tel):/i.test(address) ? address : `sip:${address}`;
}
