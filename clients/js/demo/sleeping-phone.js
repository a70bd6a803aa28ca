/**
 * A phone of the page that sleeps as one in a pocket does: its app is closed, so it has no subscription and no channel.
 * The gateway wakes it by a webhook. The application's push service is a stand-in, which `--dev` offers to this page:
 * it keeps each push until the page asks for it, and a push that comes starts the app again.
 */
const SERVICE = '/demo/push/';
const RETRY = 2_000;

export class SleepingPhone extends EventTarget {
  #client;
  #name;
  #registration = null; // path of the push registration
  #sleep = null; // what one sleep is known by; null: awake

  /**
   * @param {SpidrClient} client  registers and unregisters
   * @param {string} name  the device's name for itself, which is the client's `clientCorrelator`
   */
  constructor(client, name) {
    super();
    this.#client = client;
    this.#name = name;
  }

  get isAsleep() { return this.#sleep !== null; }

  /** Registers for pushes, closes the app, and waits for a push. */
  async fallAsleep() {
    const { url, bundleID } = await (await fetch(SERVICE)).json();
    await fetch(SERVICE + this.#name, { method: 'PUT' }); // for a phone that it does not know, it takes no push
    const answer = await this.#client.request('POST', '/push/webhook/devices/', {
      bundleID, service: ['call'], realm: 'default', clientCorrelator: this.#name, url: url + this.#name,
    });
    this.#registration = Object.values(answer)[0].registration;
    await this.#client.unregister();
    this.#sleep = Symbol('sleep');
    this.#dream(this.#sleep);
  }

  /** Opens the app: by hand, or because of a push. */
  async wake() {
    this.#sleep = null;
    await this.#client.register();
  }

  /** The device is not woken any more. */
  async forget() {
    this.#sleep = null;
    const registration = this.#registration;
    this.#registration = null;
    if (registration) await this.#client.request('DELETE', registration);
  }

  async #dream(sleep) {
    while (this.#sleep === sleep) {
      const push = await this.#nextPush();
      if (this.#sleep !== sleep) return; // opened by hand meanwhile
      if (!push.type) continue; // none came for a while
      this.dispatchEvent(new CustomEvent('push', { detail: push }));
      if (push.type !== 'push.call') continue; // such as that a call is over, which needs no app
      try {
        return await this.wake();
      } catch (error) {
        return this.dispatchEvent(new CustomEvent('error', { detail: { error } }));
      }
    }
  }

  async #nextPush() {
    try {
      const answer = await fetch(SERVICE + this.#name);
      if (answer.ok) return await answer.json();
    } catch {
      // The gateway is away, and may come back.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY));
    return {};
  }
}
