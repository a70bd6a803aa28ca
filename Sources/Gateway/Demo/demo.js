/**
 * The demo page: phones side by side, and what happens between them.
 *
 * `?phones=carol,dave` shows other users of `@dev.local`, `?phones=alice` a single phone, e.g. for two browsers.
 * `window.orbweaver` gives scripts and tests the phones by name.
 */
import { Phone } from './phone.js';

const DOMAIN = 'dev.local';
const PASSWORD = 'dev'; // the one password of every `--dev` user

const names = (new URLSearchParams(location.search).get('phones') ?? 'alice,bob').split(',').slice(0, 2);
const others = { alice: 'bob', bob: 'alice', carol: 'dave', dave: 'carol' };
const peerOf = (name) => names.find((other) => other !== name) ?? others[name] ?? 'alice';

const fromTemplate = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);
const part = (root, name) => root.querySelector(`[data-part="${name}"]`);

const phones = {};
for (const name of names) {
  const root = fromTemplate('phone-template');
  root.id = `phone-${name}`;
  document.getElementById('phones').append(root);
  phones[name] = new Phone(root, { user: `${name}@${DOMAIN}`, password: PASSWORD, peer: `${peerOf(name)}@${DOMAIN}` });
}

// MARK: Tabs, where only one phone fits

const tabs = Object.fromEntries(names.map((name) => [name, fromTemplate('tab-template')]));

function show(name) {
  for (const [other, tab] of Object.entries(tabs)) {
    tab.setAttribute('aria-selected', String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    phones[other].root.classList.toggle('current', other === name);
  }
}

const TAB_NOTES = { incoming: 'is ringing', outgoing: 'is calling', connected: 'in a call', ready: 'ready', failed: 'failed' };

for (const [name, tab] of Object.entries(tabs)) {
  part(tab, 'name').textContent = name;
  tab.setAttribute('aria-controls', phones[name].root.id);
  tab.addEventListener('click', () => show(name));
  tab.addEventListener('keydown', ({ key }) => {
    if (key !== 'ArrowLeft' && key !== 'ArrowRight') return;
    const other = peerOf(name);
    show(other);
    tabs[other].focus();
  });
  phones[name].addEventListener('view', () => describeTab(name));
  describeTab(name);
}
document.getElementById('tabs').append(...Object.values(tabs));
document.body.classList.toggle('single', names.length === 1);
show(names[0]);

function describeTab(name) {
  const { view } = phones[name];
  tabs[name].dataset.view = view;
  part(tabs[name], 'state').textContent = TAB_NOTES[view] ?? '';
}

// MARK: The legs

const kilobits = (bits) => `${Math.round(bits / 1000)}`;

const NOTHING = { pair: 'no leg yet', roundTrip: '', keys: '–', audio: '–', video: '–' };

function describe({ pair, keys, audio, video }) {
  const flow = (medium) => `${medium.codec ?? '?'} · ${kilobits(medium.sentBits)} up, ${kilobits(medium.receivedBits)} down kbit/s`;
  return {
    pair: pair ? `${pair.local} → ${pair.remote} ${pair.protocol}` : 'looking for a path',
    roundTrip: pair?.roundTrip === undefined ? '' : `${(pair.roundTrip * 1000).toFixed(1)} ms there and back`,
    keys: keys ? `${keys.tls} · ${keys.srtp}` : 'handshake',
    audio: audio ? `${flow(audio)}${audio.lost > 0 ? ` · ${audio.lost} lost` : ''}` : 'none',
    video: video ? `${flow(video)}${video.width ? ` · ${video.width} × ${video.height}` : ''}` : 'none',
  };
}

const legs = document.getElementById('legs');
for (const name of names) {
  const leg = fromTemplate('leg-template');
  part(leg, 'title').textContent = `${name} and the gateway`;
  const phone = phones[name];
  const update = () => {
    leg.classList.toggle('alive', Boolean(phone.report?.pair));
    const figures = phone.report ? describe(phone.report) : NOTHING;
    for (const [key, text] of Object.entries(figures)) part(leg, key).textContent = text;
  };
  phone.addEventListener('report', update);
  update();
  if (name === names[0]) legs.prepend(leg);
  else legs.append(leg);
}

// MARK: Sound

const soundButton = document.getElementById('sound');
function setSound(on) {
  soundButton.setAttribute('aria-pressed', String(on));
  soundButton.querySelector('span').textContent = on ? 'Sound on' : 'Sound off';
  for (const phone of Object.values(phones)) phone.sound = on;
}
soundButton.addEventListener('click', () => setSound(soundButton.getAttribute('aria-pressed') !== 'true'));
setSound(true);

// A page that is closed takes its registrations along instead of leaving the gateway ringing nobody.
addEventListener('pagehide', () => {
  for (const { client } of Object.values(phones)) client.unregister().catch(() => {}); // nobody is left to tell
});

window.orbweaver = { phones, setSound };
