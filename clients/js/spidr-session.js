/**
 * A call as it goes on between this side and the gateway: its state, its descriptions, and the reason why it ended.
 * `Call` adds what a user can do.
 *
 *     outgoing   INITIAL ─▶ DIALING ─▶ SESSION_PROGRESS ─▶ RINGING ─▶ IN_CALL ─▶ ENDED
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
const TIME_FOR_CALL_END = 2_000;

export class CallSession extends EventTarget {
  #state = CallState.INITIAL;
  #auditTimer;
  #negotiation;
  #outcome = null; // what `sessionComplete` or `sessionFail` decides: {resolve, reject}

  /** @internal Calls are made by `SpidrClient`. */
  constructor({ client, direction, remote, remoteName, sessionData, offer }) {
    super();
    this.client = client;
    this.direction = direction;
    /** Address and name of the other party. */
    this.remote = remote;
    this.remoteName = remoteName || null;
    this.sessionData = sessionData;
    /** @internal The caller's description, if there is one. */
    this.invitation = offer;
    this.media = new CallMedia({ holdWith: client.holdWith, tell: (text) => this.emit('notice', { text }) });
    this.media.addEventListener('change', () => this.emit('media'));
    this.media.addEventListener('needed', () => this.#renegotiate());
    this.#negotiation = new Negotiation(this.media, (type, fields) => this.operate(type, fields));
    /** Whether the gateway is heard ahead of the answer, in place of any tone of the device's own. */
    this.hasEarlyMedia = false;
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
  get isChanging() { return this.#negotiation.isOpen || this.#outcome !== null; }

  /** Resolves once the call has come to `state`; rejects if it ends before that. */
  reached(state) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#state === state) resolve();
        else if (this.#state === CallState.ENDED) {
          reject(this.endReason.error ?? new Error(`the call ended: ${this.endReason.text}`));
        } else return;
        this.removeEventListener('state', look);
      };
      this.addEventListener('state', look);
      look();
    });
  }

  // MARK: For SpidrClient

  /** @internal An incoming call has arrived. */
  ring() {
    this.moveTo(CallState.RINGING);
    this.startAudits();
    if (this.client.ringingFeedback) this.operate('ringing').catch((error) => this.#notice(error));
  }

  /** @internal A notification for this session. */
  receive({ eventType, statusCode, sessionParams, callNotificationParams, mediaPath }) {
    const { sdp, statusCode: endCode, reasonText, cause, endedBy } = sessionParams;
    if (eventType === 'startCallUpdate' || eventType === 'respondCallUpdate') this.#learn(callNotificationParams ?? {});
    switch (eventType) {
      case 'ringing':
        this.#inTurn(() => this.#rings());
        break;
      case 'sessionProgress':
        if (sdp) this.#inTurn(() => this.#earlyMedia(sdp));
        break;
      case 'respondCallUpdate':
        if (Number(statusCode) === GLARE) this.#glared(new Error(reasonText ?? 'both sides changed the call at once'));
        else if (sdp) this.#inTurn(() => this.#negotiation.answered(sdp).then(() => this.settle()));
        break;
      case 'startCallUpdate':
        this.#inTurn(() => this.#negotiation.respond(sdp).then(() => this.settle()));
        break;
      case 'callCancel': // also sent to the device that answered or rejected: no news there
        if (this.direction === 'incoming' && this.#state === CallState.RINGING) {
          this.finish({ code: EndCode.ANSWERED_ELSEWHERE, text: 'answered elsewhere', by: 'remote', cause });
        }
        break;
      case 'callEnd': {
        const unexplained = endedBy === 'self' ? 'ended on another device' : 'no reason given';
        const code = Number(endCode ?? EndCode.NO_REASON);
        this.finish({ code, text: reasonText || unexplained, by: 'remote', cause });
        break;
      }
      case 'mediaPath':
        this.emit('path', mediaPath);
        if (mediaPath.leg !== 'self') break;
        this.media.isUnheard = mediaPath.state === 'lost';
        if (this.media.isUnheard && this.media.restartIfLost()) this.#renegotiate();
        break;
      case 'sessionComplete': // moved to another call; the session waits for our DELETE
        this.#outcome?.resolve();
        this.finish({ code: EndCode.COMPLETED, text: reasonText || 'completed', by: 'remote' });
        this.hangUp().catch((error) => this.client.reportError(error));
        break;
      case 'sessionFail': {
        const error = new Error(reasonText || 'the gateway gave no reason');
        const code = Number(endCode ?? EndCode.ERROR);
        if (this.#outcome) this.#outcome.reject(error);
        else if (!this.isConnected) this.finish({ code, text: error.message, by: 'remote', error });
        break;
      }
    }
  }

  /**
   * @internal After a reconnection: does the gateway still know this call, and has its media outlived what has
   * happened?
   */
  async verify() {
    try {
      await this.client.request('GET', this.#path);
      if (this.media.restartIfLost()) this.#renegotiate();
    } catch (error) {
      const text = 'ended while disconnected';
      if (error.httpStatus === 404) this.finish({ code: EndCode.ERROR, text, by: 'remote' });
      else this.client.reportError(error);
    }
  }

  /** @internal The one way into ENDED. */
  finish(reason) {
    if (this.#state === CallState.ENDED) return;
    this.endReason = reason;
    clearInterval(this.#auditTimer);
    this.media.close();
    this.client.forget(this);
    const over = new Error(`the call ended: ${reason.text}`);
    this.#negotiation.fail(over);
    this.#outcome?.reject(over); // unless it has come about
    this.moveTo(CallState.ENDED);
  }

  // MARK: For Call

  /** @internal Microphone, camera and a connection; they are given back if the call ends meanwhile. */
  async open(media) {
    await this.media.open(media);
    if (this.#state !== CallState.ENDED) return;
    this.media.close();
    throw new Error('the call has ended');
  }

  /** @internal See `Negotiation.change`. */
  async change(what, apply, undo, sections) {
    if (!this.isConnected) throw this.unfit(what);
    const change = this.#negotiation.change(apply, undo, sections);
    this.emit('busy');
    try {
      await change;
    } finally {
      this.settle();
      this.emit('busy');
    }
  }

  /** @internal A request whose outcome `sessionComplete` or `sessionFail` tells. */
  async complete(type, fields) {
    const outcome = new Promise((resolve, reject) => { this.#outcome = { resolve, reject }; });
    outcome.catch(() => {}); // thrown below
    this.emit('busy');
    try {
      await this.operate(type, fields);
      await outcome;
    } finally {
      this.#outcome = null;
      this.emit('busy');
    }
  }

  /** @internal Does something with descriptions once what came before it is done. */
  afterOthers(step) { return this.#negotiation.afterOthers(step); }

  /** @internal */
  operate(type, fields = {}, options) {
    return this.client.request('PUT', this.#path, { callControlRequest: { type, ...fields } }, options);
  }

  /** @internal */
  hangUp(reason) {
    return this.client.request('DELETE', this.#path + (reason ? `?reasonText=${encodeURIComponent(reason)}` : ''));
  }

  /** @internal Both sides tell the gateway that they are alive, and find out whether the call is. */
  startAudits() {
    this.#auditTimer = setInterval(async () => {
      try {
        await this.operate('audit', {}, { signal: AbortSignal.timeout(AUDIT_TIME_OUT) });
      } catch (error) {
        const text = 'the gateway no longer knows the call';
        if (error.statusCode === NO_SUCH_CALL) this.finish({ code: EndCode.AUDIT_FAILED, text, by: 'remote' });
        else this.client.reportError(error);
      }
    }, AUDIT_INTERVAL);
  }

  /** @internal The state of an answered call follows from who holds, once it is agreed on. */
  settle() {
    if (this.#negotiation.isOpen || this.#state === CallState.ENDED) return;
    this.connectedAt ??= new Date();
    const { holding, remotelyHeld } = this.media;
    if (holding) this.moveTo(remotelyHeld ? CallState.ON_DOUBLE_HOLD : CallState.ON_HOLD);
    else this.moveTo(remotelyHeld ? CallState.REMOTELY_HELD : CallState.IN_CALL);
  }

  /** @internal */
  moveTo(state) {
    const previous = this.#state;
    if (state === previous || previous === CallState.ENDED) return;
    this.#state = state;
    this.emit('state', { state, previous });
  }

  /**
   * @internal Something on this side went wrong: the call cannot go on, and the gateway is told so if it knows the
   * call.
   */
  fail(error) {
    if (this.#state === CallState.ENDED) return;
    this.finish({ code: EndCode.ERROR, text: error.message, by: 'local', error });
    if (this.sessionData && error.httpStatus !== 404) {
      this.hangUp(error.message).catch((failure) => this.client.reportError(failure));
    }
  }

  /** @internal */
  unfit(operation) { return new Error(`cannot ${operation} an ${this.direction} call in state ${this.#state}`); }

  /** @internal */
  emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }

  // MARK: Parts

  get #path() { return `/callControl/callSessions/${encodeURIComponent(this.sessionData)}`; }

  /**
   * The connection wants to agree on something anew of its own accord: a path that was lost, or the application's
   * `restartIce`.
   */
  #renegotiate() {
    if (!this.isConnected || this.isChanging) return;
    this.change('renegotiate', () => {}, () => {}).catch((error) => this.#notice(error));
  }

  /**
   * A browser that knows no provisional answers, as Firefox, goes on without early media: the answer brings everything.
   */
  async #earlyMedia(sdp) {
    if (!(await this.media.acceptProvisionally(sdp))) return;
    this.hasEarlyMedia = true;
    if (this.#state === CallState.DIALING) this.moveTo(CallState.SESSION_PROGRESS);
  }

  /** After a description that came before. */
  #rings() {
    if (this.#state === CallState.DIALING || this.#state === CallState.SESSION_PROGRESS) this.moveTo(CallState.RINGING);
  }

  #glared(error) {
    if (!this.#negotiation.fail(error)) this.#notice(error);
  }

  /**
   * Descriptions are applied in the order in which they came; one that cannot be applied ends the call. If the gateway
   * does not know the call any more, `callEnd` is on its way and gives the reason.
   */
  #inTurn(step) {
    this.#negotiation.afterOthers(() => (this.#state === CallState.ENDED ? undefined : step())).catch((error) => {
      if (error.httpStatus === 404) setTimeout(() => this.fail(error), TIME_FOR_CALL_END);
      else this.fail(error);
    });
  }

  /** The caller's names count for incoming calls and for conferences, the remote ones otherwise. */
  #learn({ callerName, callerDisplayNumber, remoteName, remoteDisplayNumber }) {
    const isCaller = this.direction === 'incoming' || callerDisplayNumber?.startsWith('conference@');
    const [name, address] = isCaller ? [callerName, callerDisplayNumber] : [remoteName, remoteDisplayNumber];
    if (!address || (address === this.remote && (name || null) === this.remoteName)) return;
    this.remote = address;
    this.remoteName = name || null;
    this.emit('remote');
  }

  #notice(error) { this.emit('notice', { text: error.message }); }
}
