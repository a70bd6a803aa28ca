/**
 * One call of a `SpidrClient`: how it starts, and what a user can do with it. What becomes of it then, its states and
 * its events are in `CallSession`.
 */
import { CallSession } from './spidr-session.js';
import { CallState, EndCode } from './spidr-states.js';

export class Call extends CallSession {
  // MARK: What a user can do

  /** Answers a ringing call. */
  async answer(media = { audio: true, video: false }) {
    if (this.state !== CallState.RINGING || this.direction !== 'incoming') throw this.unfit('answer');
    this.moveTo(CallState.ANSWERING);
    try {
      await this.open(media);
      // An offer that is missing is asked for: this side offers, `respondCallUpdate` will bring the answer.
      const sdp = this.invitation ? await this.media.answer(this.invitation) : await this.media.offer();
      await this.operate('callAnswer', { sdp });
      if (this.invitation) this.settle();
    } catch (error) {
      if (this.state === CallState.ENDED) return; // the caller gave up while the answer was being made
      if (error.code === 'call.already_answered') {
        this.finish({ code: EndCode.ANSWERED_ELSEWHERE, text: 'answered elsewhere', by: 'remote', error });
      } else {
        this.fail(error);
      }
      throw error;
    }
  }

  /** Refuses a ringing call on all of this user's devices. */
  async reject() {
    if (this.state !== CallState.RINGING || this.direction !== 'incoming') throw this.unfit('reject');
    const { sessionData } = this;
    this.finish({ code: EndCode.REJECTED, text: 'rejected', by: 'local' });
    const callDispositionRequest = { action: 'reject', sessionData };
    await this.client.request('POST', '/calldisposition', { callDispositionRequest });
  }

  /** Hangs up, or gives up a call that has not been answered yet. The other party sees the reason. */
  async end(reason) {
    if (this.state === CallState.ENDED) return;
    this.finish({ code: EndCode.LOCAL, text: reason ?? 'ended here', by: 'local' });
    if (this.sessionData) await this.hangUp(reason);
    // Otherwise `dial` or `join` hangs up as soon as it knows the session.
  }

  /**
   * Keeps the other side waiting. Like `resume` and `video` done when the other side has confirmed it; if not, nothing
   * has changed.
   */
  async hold() { await this.#changeHold(true); }
  async resume() { await this.#changeHold(false); }

  /** Starts or stops the own camera in the middle of a call. */
  async video(on) {
    if (on === this.media.sendsVideo) return;
    const [go, back] = on ? ['startCamera', 'stopCamera'] : ['stopCamera', 'startCamera'];
    await this.change('change video', () => this.media[go](), () => this.media[back]());
  }

  /**
   * Looks for a new way to the gateway, e.g. after a change of network: an ICE restart, of which the other side is told
   * nothing.
   */
  async restartIce() { await this.change('restart ICE', () => this.pc.restartIce(), () => {}); }

  /**
   * Connects the other side with another user and leaves; puts it on hold before. Done when the other two talk, and
   * the call has ended then; rejects if it did not come about, and the call is on hold as it was.
   * @param {string|Call} target  an address, or another call of this client, whose party is the one to be talked to
   */
  async transfer(target) {
    if (!this.isConnected) throw this.unfit('transfer');
    if (!this.holding) await this.hold();
    const wanted = target instanceof Call
      ? { address: sipAddress(target.remote), sessionData: target.sessionData }
      : { address: sipAddress(target) };
    await this.complete('transfer', wanted);
  }

  /** Presses DTMF digits (0-9, *, #, A-D), one after the other. */
  press(digits) {
    if (!this.media.press(digits)) this.emit('notice', { text: 'The other side takes no DTMF digits now.' });
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
    const [from, to] = [`sip:${this.client.user}`, sipAddress(this.remote)];
    await this.#start(media, { type: 'callStart', from, to, supported: ['earlymedia'] });
  }

  /** @internal The call that two others become. */
  async join(first, second) {
    const [firstSessionData, secondSessionData] = [first.sessionData, second.sessionData];
    await this.#start({ audio: true }, { type: 'join', firstSessionData, secondSessionData });
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
      offer: this.state === CallState.RINGING ? this.invitation : undefined,
    };
  }

  /**
   * @internal Goes on with a call of an earlier page: new media, offered to the gateway, which tells the other side
   * nothing of it.
   */
  async restore({ connectedAt, holding, remotelyHeld, video, sections }) {
    if (connectedAt === null && this.direction === 'incoming') return this.ring();
    if (connectedAt === null) return this.end('the page was loaded again'); // its offer went with the old page
    this.connectedAt = new Date(connectedAt);
    Object.assign(this.media, { holding, remotelyHeld });
    this.startAudits();
    this.settle();
    const opened = this.afterOthers(() => this.open({ audio: true, video })); // before what comes meanwhile is applied
    await Promise.all([this.verify(), opened]);
    if (this.isConnected) await this.change('come back', () => {}, () => {}, sections);
  }

  // MARK: Parts

  async #start(media, body) {
    this.moveTo(CallState.DIALING);
    try {
      await this.open(media);
      const sdp = await this.media.offer();
      if (this.state === CallState.ENDED) return;
      await this.client.start(this, { callControlRequest: { ...body, sdp } });
      if (this.state === CallState.ENDED) {
        this.client.forget(this);
        await this.hangUp(this.endReason.text);
      } else {
        this.startAudits();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  async #changeHold(holding) {
    if (this.holding === holding) return;
    const set = (value) => { this.media.holding = value; };
    await this.change(holding ? 'hold' : 'resume', () => set(holding), () => set(!holding));
  }
}

/** `bob@dev.local` and `+1555` become SIP addresses; what has a scheme stays. */
function sipAddress(address) {
  return /^(sips?|tel):/i.test(address) ? address : `sip:${address}`;
}
