/**
 * A small client for the SPiDR signalling protocol: REST requests, one WebSocket for notifications.
 *
 *     const alice = new SpidrClient({ user: 'alice@dev.local', password: 'dev' });
 *     alice.addEventListener('incoming', ({ detail: { call } }) => call.answer({ audio: true, video: true }));
 *     await alice.register();
 *     const call = alice.call('bob@dev.local', { audio: true, video: true });
 *     call.addEventListener('state', () => console.log(call.state, call.endReason));
 *
 * Events of a client, all `CustomEvent`s:
 *
 * | event          | `detail`                                                                     |
 * |----------------|------------------------------------------------------------------------------|
 * | `state`        | `{state, previous, reason}`; see `ClientState`                               |
 * | `incoming`     | `{call}`: a user calls; the call is in state `RINGING`                     |
 * | `notification` | the `notificationMessage` as it came, duplicates left out                    |
 * | `error`        | `{error}`: something failed that no caller was waiting for                   |
 */
import { Call } from './spidr-call.js';
import { NotificationChannel } from './spidr-channel.js';
import { CallState, ClientState, EndCode, SpidrError } from './spidr-states.js';

export { Call, CallState, ClientState, EndCode, SpidrError };

const SHORTEST_RETRY = 30_000;
const REMEMBERED_EVENTS = 100;

export class SpidrClient extends EventTarget {
  #authorization;
  #options;
  #state = ClientState.UNREGISTERED;
  #subscription = null; // path of the subscription resource
  #channel = null;
  #extendTimer;
  #handled = []; // eventIds, oldest first
  #calls = new Map(); // by sessionData
  #startsInFlight = 0;
  #unclaimed = []; // notifications of sessions whose `callStart` is still unanswered

  /**
   * @param {object} options
   * @param {string} options.user  `name@domain`
   * @param {string} options.password
   * @param {string} [options.authName]  the name to log in with, if it is not the address
   * @param {string} [options.baseURL]  where the gateway is; default: where the page came from
   * @param {string[]} [options.services]
   * @param {boolean} [options.ringingFeedback]  tell the caller only once this device really rings
   * @param {number} [options.expires]  wished life time of the registration in seconds
   * @param {string} [options.clientCorrelator]  names this device: registering again replaces its old registration
   * @param {'inactive'|'sendonly'} [options.holdWith]  what is offered to hold; with `sendonly` the other side hears
   *     music
   */
  constructor({
    user, password, authName = user, baseURL = location.origin, services = ['call'], ringingFeedback = true,
    expires = 3600, clientCorrelator, holdWith = 'inactive',
  }) {
    super();
    this.user = user;
    this.holdWith = holdWith;
    this.baseURL = new URL(baseURL);
    this.#authorization = `Basic ${base64(`${authName}:${password}`)}`;
    this.#options = { services, ringingFeedback, expires, clientCorrelator };
  }

  get state() { return this.#state; }
  get ringingFeedback() { return this.#options.ringingFeedback; }
  /** The calls that have not ended. */
  get calls() { return [...this.#calls.values()]; }

  /** Subscribes and opens the notification channel; done when notifications can arrive. */
  async register() {
    if (this.#state !== ClientState.UNREGISTERED) return;
    this.#moveTo(ClientState.REGISTERING);
    try {
      const { clientCorrelator } = this.#options;
      const answer = await this.request('POST', '/subscription', {
        subscribeRequest: { ...this.#wishes(), forceLogOut: 'false', ...(clientCorrelator && { clientCorrelator }) },
      });
      const { subscription, subscriptionParams } = answer.subscribeResponse;
      await this.#connect(subscription, subscriptionParams);
    } catch (error) {
      const subscription = this.#subscription;
      this.#leave(error.message);
      // Without a channel the subscription is of no use; should this fail as well, it expires by itself.
      if (subscription) this.request('DELETE', subscription).catch((failure) => this.reportError(failure));
      throw error;
    }
  }

  /**
   * Goes on where an earlier page stopped, with what `snapshot` was there: the same registration and channel, and calls
   * with new media. Rejects if the registration is gone.
   * @returns {Promise<Call[]>} calls that go on, ring on, or have just ended
   */
  async resume({ subscription, handled, calls }) {
    this.#moveTo(ClientState.REGISTERING);
    this.#handled = handled; // what comes again from the gateway's queue is no news
    try {
      const { subscribeResponse } = await this.request('PUT', subscription, { subscribeRequest: this.#wishes() });
      const restored = calls.map((before) => {
        const call = this.#adopt(new Call({ client: this, ...before }));
        call.restore(before).catch((error) => this.reportError(error));
        return call;
      });
      await this.#connect(subscription, subscribeResponse.subscriptionParams);
      return restored;
    } catch (error) {
      this.#lose(error.message);
      throw error;
    }
  }

  /** What a page that is loaded again needs for `resume`, as plain JSON; `null` if nothing is registered. */
  get snapshot() {
    if (!this.#subscription) return null;
    const calls = this.calls.filter((call) => call.sessionData).map((call) => call.snapshot);
    return { subscription: this.#subscription, handled: this.#handled, calls };
  }

  /** Ends the calls and the registration. */
  async unregister() {
    const subscription = this.#subscription;
    for (const call of this.calls) call.finish({ code: EndCode.UNREGISTERED, text: 'unregistered', by: 'local' });
    this.#leave('unregistered');
    if (subscription) await this.request('DELETE', subscription);
  }

  /**
   * Calls an address. The call is there at once and tells by `state` events how it goes on; one that fails becomes
   * ENDED, with the cause in `endReason`.
   * @returns {Call}
   */
  call(address, media = { audio: true, video: false }) {
    const call = new Call({ client: this, direction: 'outgoing', remote: address });
    call.dial(media);
    return call;
  }

  /**
   * Makes two answered calls one, in which everybody hears everybody. The new call becomes IN_CALL and the old ones
   * end; if it does not come about, it becomes ENDED and they stay as they are.
   * @returns {Call}
   */
  join(first, second) {
    const call = new Call({ client: this, direction: 'outgoing', remote: 'conference' });
    call.join(first, second);
    return call;
  }

  // MARK: For Call

  /**
   * One REST request. `path` is a path handed out by the gateway, or one below the user's own resources.
   * @throws {SpidrError}
   */
  async request(method, path, body, { signal } = {}) {
    const url = new URL(path.startsWith('/rest/') ? path : `/rest/version/1/user/${this.user}${path}`, this.baseURL);
    let response, answer;
    try {
      response = await fetch(url, {
        method,
        headers: {
          Authorization: this.#authorization,
          Accept: 'application/json',
          ...(body && { 'Content-Type': 'application/json' }),
          // Names this device, so that no other one is told of its calls.
          ...(this.#subscription && { 'x-session': this.#subscription.split('/').at(-1) }),
        },
        body: body && JSON.stringify(body),
        keepalive: method === 'DELETE', // a page that is being closed still says goodbye
        signal,
      });
      answer = response.status === 204 ? {} : await response.json();
    } catch (error) {
      const reason = response ? 'the answer is not JSON' : `the gateway cannot be reached (${error.message})`;
      throw new SpidrError({ httpStatus: response?.status ?? 0, reason });
    }
    if (response.ok) return answer;
    const { statusCode, code, reason } = Object.values(answer).find((value) => typeof value === 'object') ?? answer;
    const seconds = Number(response.headers.get('Retry-After') ?? NaN);
    throw new SpidrError({
      httpStatus: response.status, statusCode, code, reason: reason ?? response.statusText,
      retryAfter: seconds >= 0 ? seconds * 1000 : undefined,
    });
  }

  /**
   * Runs the request that makes a call. Its first notifications may overtake the answer on their way through the
   * browser, so those of unknown sessions wait until it is there.
   */
  async start(call, body) {
    this.#startsInFlight += 1;
    try {
      const answer = await this.request('POST', '/callControl', body);
      call.sessionData = answer.callControlResponse.sessionData;
      this.#adopt(call);
    } finally {
      this.#startsInFlight -= 1;
      const waiting = this.#unclaimed;
      this.#unclaimed = [];
      for (const message of waiting) this.#dispatchToCall(message);
    }
  }

  #adopt(call) {
    this.#calls.set(call.sessionData, call);
    return call;
  }

  forget(call) { this.#calls.delete(call.sessionData); }

  reportError(error) { this.#emit('error', { error }); }

  // MARK: Subscription

  #wishes() {
    const { services, ringingFeedback, expires } = this.#options;
    return {
      expires,
      service: services,
      localization: 'English_US',
      notificationType: 'WebSocket',
      ...(ringingFeedback && { supported: ['RingingFeedback'] }),
    };
  }

  /** Extends after `delay` ms; tries again in half the time after a failure, down to 30 s. */
  #scheduleExtension(delay) {
    clearTimeout(this.#extendTimer);
    this.#extendTimer = setTimeout(async () => {
      try {
        const answer = await this.request('PUT', this.#subscription, { subscribeRequest: this.#wishes() });
        this.#scheduleExtension(answer.subscribeResponse.subscriptionParams.expires * 500);
      } catch (error) {
        if (this.#subscription === null) return; // unregistered meanwhile
        if (error.httpStatus === 404) return this.#lose('the registration is gone');
        this.reportError(error);
        this.#scheduleExtension(Math.max(delay / 2, SHORTEST_RETRY));
      }
    }, delay);
  }

  // MARK: Notifications

  async #connect(subscription, { notificationChannel, expires }) {
    this.#subscription = subscription;
    this.#scheduleExtension(expires * 500);
    const channel = new NotificationChannel(new URL(notificationChannel, this.baseURL), {
      message: (message) => this.#received(message),
      lost: () => this.#moveTo(ClientState.RECONNECTING, 'connection lost'),
      back: () => {
        this.#moveTo(ClientState.REGISTERED);
        for (const call of this.calls) call.verify();
      },
      over: (reason) => this.#lose(reason),
    });
    this.#channel = channel;
    await channel.open();
    this.#moveTo(ClientState.REGISTERED);
  }

  #received(message) {
    if (this.#handled.includes(message.eventId)) return;
    this.#handled.push(message.eventId);
    if (this.#handled.length > REMEMBERED_EVENTS) this.#handled.shift();
    this.#emit('notification', message);
    switch (message.eventType) {
      case 'gone': return this.#lose('the gateway ended the registration');
      case 'websocketOverridden': return this.#lose('another connection took over');
      case 'ping': return this.#scheduleExtension(0);
      case 'call': return this.#incoming(message);
      default: return this.#dispatchToCall(message);
    }
  }

  #incoming(message) {
    const { sessionData, sdp } = message.sessionParams;
    if (this.#calls.has(sessionData)) return;
    const { callerName, callerDisplayNumber } = message.callNotificationParams;
    const caller = { remote: callerDisplayNumber, remoteName: callerName };
    const call = new Call({ client: this, direction: 'incoming', ...caller, sessionData, offer: sdp });
    this.#adopt(call);
    call.ring();
    this.#emit('incoming', { call });
  }

  #dispatchToCall(message) {
    const sessionData = message.sessionParams?.sessionData;
    if (sessionData === undefined) return;
    const call = this.#calls.get(sessionData);
    if (call) call.receive(message);
    else if (this.#startsInFlight > 0) this.#unclaimed.push(message);
  }

  // MARK: States

  /** The registration ended without this client asking for it; its calls cannot go on. */
  #lose(reason) {
    for (const call of this.calls) call.finish({ code: EndCode.ERROR, text: reason, by: 'local' });
    this.#leave(reason);
  }

  #leave(reason) {
    clearTimeout(this.#extendTimer);
    this.#channel?.close();
    this.#subscription = this.#channel = null;
    this.#handled = [];
    this.#moveTo(ClientState.UNREGISTERED, reason);
  }

  #moveTo(state, reason) {
    const previous = this.#state;
    if (state === previous) return;
    this.#state = state;
    this.#emit('state', { state, previous, reason });
  }

  #emit(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** Base 64 of the UTF-8 form: `btoa` alone refuses letters beyond Latin-1. */
function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
