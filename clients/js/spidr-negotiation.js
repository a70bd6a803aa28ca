/**
 * Offers and answers of an answered call (RFC 3264 §8): one after the other, in both directions.
 *
 *     own change     apply ─▶ offer ─▶ startCallUpdate ─▶ … respondCallUpdate ─▶ done
 *                                          │ 491                │ glare, or the call ended
 *                                          ▼                    ▼
 *                                undo, wait, again        roll back, undo, fail
 */
const REQUEST_PENDING = 491;
const ATTEMPTS = 4;
const SHORTEST_WAIT = 1_000;

export class Negotiation {
  #media;
  #send;
  #work = Promise.resolve();
  #open = null; // what the other side has to answer: {resolve, reject}

  /**
   * @param {CallMedia} media
   * @param {(type: string, fields: object) => Promise} send  a request about this call
   */
  constructor(media, send) {
    this.#media = media;
    this.#send = send;
  }

  /** Whether a change of this side is under way. */
  get isOpen() { return this.#open !== null; }

  /**
   * Makes a change and has it agreed on. Done when the other side has answered; if it does not, `undo` takes the change
   * back and this rejects. Where the other side offered first and the gateway only passes descriptions on, it says so,
   * and it is tried again.
   * @param {string[]} [sections]  see `CallMedia.offer`
   */
  async change(apply, undo, sections) {
    if (this.#open) throw new Error('another change of this call is under way');
    const outcome = new Promise((resolve, reject) => { this.#open = { resolve, reject }; });
    outcome.catch(() => {}); // thrown below
    const takeBack = async (error) => {
      if (!this.#media.isClosed) {
        await this.#media.rollback();
        await undo();
      }
      throw error;
    };
    const offer = async () => {
      await apply();
      const { sdp, commit } = await this.#media.propose(sections);
      await this.#send('startCallUpdate', { sdp });
      await commit();
    };
    try {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await this.afterOthers(() => offer().catch(takeBack));
          break;
        } catch (error) {
          if (error.httpStatus !== REQUEST_PENDING || attempt === ATTEMPTS) throw error;
          const wait = (error.retryAfter ?? SHORTEST_WAIT) * (0.5 + Math.random());
          await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, wait))]); // unless the call ends
        }
      }
      await outcome.catch(takeBack);
    } finally {
      this.#open = null;
    }
  }

  /** The other side has answered. */
  async answered(sdp) {
    await this.#media.accept(sdp);
    this.#open?.resolve();
  }

  /**
   * The other side offers, or without a description asks this side for an offer (slow start). This side pays no heed to
   * what meets an offer of its own: the gateway answers the offer of this side, and offers again what that leaves
   * unsaid, but not what the other side has taken back meanwhile.
   */
  async respond(sdp) {
    if (this.#media.isOffering) return;
    await this.#send('respondCallUpdate', { sdp: sdp ? await this.#media.answer(sdp) : await this.#media.offer() });
  }

  /** The open change will not come about. @returns {boolean} whether there was one */
  fail(error) {
    this.#open?.reject(error);
    return this.#open !== null;
  }

  /** Does something with descriptions once what came before it is done. */
  afterOthers(step) {
    const done = this.#work.then(step);
    this.#work = done.catch(() => {}); // whoever waits for `done` deals with it
    return done;
  }
}
