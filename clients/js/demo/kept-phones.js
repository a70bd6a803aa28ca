/** What phones were doing when their page was loaded again; the tab's own storage outlives that, and nothing else. */
const PREFIX = 'orbweaver.phone.';
/** The gateway gives up calls of clients that are away for longer. Milliseconds. */
const GOOD_FOR = 60_000;

export class KeptPhones {
  #storage;

  /** @param {Storage} storage  `sessionStorage` */
  constructor(storage) { this.#storage = storage; }

  get names() {
    const keys = Object.keys(this.#storage).filter((key) => key.startsWith(PREFIX));
    return keys.map((key) => key.slice(PREFIX.length));
  }

  keep(name, snapshot) { this.#storage.setItem(PREFIX + name, JSON.stringify({ at: Date.now(), snapshot })); }

  /** Takes everything out. @returns {[name: string, snapshot: object][]} */
  take() {
    const all = this.names.map((name) => [name, JSON.parse(this.#storage.getItem(PREFIX + name))]);
    for (const [name] of all) this.#storage.removeItem(PREFIX + name);
    return all.filter(([, { at }]) => Date.now() - at < GOOD_FOR).map(([name, { snapshot }]) => [name, snapshot]);
  }
}
