import { make, words } from './make.ts';
import { readCurl, type ShownRequest } from './snippets.ts';

/** Of this tab only: a secret key must not outlive it. */
const keys = { publicKey: '', secretKey: '' };

/** A form below the example. It is filled when it is opened first. */
export function addTryIt(examples: Element, command: string): void {
  const request = readCurl(command);
  if (!request) return;
  const box = make('details', { class: 'try' }, make('summary', {}, words.tryIt));
  box.addEventListener('toggle', () => {
    if (box.open && box.childElementCount === 1) box.append(formOf(request));
  });
  examples.append(box);
}

let fields = 0;

function field(label: string, control: HTMLInputElement | HTMLTextAreaElement): HTMLElement {
  control.id = `try-${++fields}`;
  return make('p', {}, make('label', { for: control.id }, label), control);
}

function formOf(request: ShownRequest): HTMLElement {
  const { pathname, search } = new URL(request.url);
  const address = make('input', { type: 'text', value: `${pathname}${search}`, spellcheck: 'false' });
  const body = make('textarea', { rows: '8', spellcheck: 'false' }, request.body ?? '');
  const needsKeys = request.headers.some(([, value]) => value.includes('_KEY'));
  const publicKey = keyField('publicKey', 'pk_dev_…');
  const secretKey = keyField('secretKey', 'sk_dev_…');
  const send = make('button', { type: 'submit', class: 'button-send' }, words.send);
  const answer = make('div', { class: 'try-answer', 'aria-live': 'polite' });
  const form = make(
    'form',
    {},
    field(words.address, address),
    ...(request.body === undefined ? [] : [field(words.body, body)]),
    ...(needsKeys
      ? [
          field(words.publicKey, publicKey),
          field(words.secretKey, secretKey),
          make('p', { class: 'note' }, words.keysHint),
        ]
      : []),
    send,
    answer,
  );
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    send.disabled = true;
    send.textContent = words.sending;
    const sent = { ...request, body: request.body === undefined ? undefined : body.value };
    answer.replaceChildren(...(await ask(sent, address.value)));
    send.textContent = words.send;
    send.disabled = false;
  });
  return form;
}

function keyField(name: keyof typeof keys, placeholder: string): HTMLInputElement {
  const type = name === 'secretKey' ? 'password' : 'text';
  const input = make('input', { type, placeholder, autocomplete: 'off', spellcheck: 'false', value: keys[name] });
  input.addEventListener('input', () => {
    keys[name] = input.value.trim();
  });
  return input;
}

async function ask({ method, body }: ShownRequest, address: string): Promise<HTMLElement[]> {
  const { publicKey, secretKey } = keys;
  if ([publicKey, secretKey].some((key) => /^[ps]k_prod_/.test(key))) return [trouble(words.onlyDevelopment)];
  if (body !== undefined && !isJson(body)) return [trouble(words.badJson)];
  const target = new URL(address, location.href);
  if (target.origin !== location.origin) return [trouble(words.failed)];
  const headers = {
    ...(publicKey && { 'x-api-key': publicKey }),
    ...(secretKey && { authorization: `Bearer ${secretKey}` }),
    ...(!publicKey && !secretKey && { 'x-svc-environment': 'development' }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const startedAt = performance.now();
  try {
    const response = await fetch(target, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    const ms = Math.round(performance.now() - startedAt);
    const ignored = response.headers.get('x-svc-ignored-fields');
    const caption = `${words.answer}: ${response.status}, ${ms} ms${ignored ? `, ignored ${ignored}` : ''}`;
    const code = make('code', {}, pretty(text));
    return [make('figure', { class: 'code' }, make('figcaption', {}, caption), make('pre', { tabindex: '0' }, code))];
  } catch {
    return [trouble(words.failed)];
  }
}

const trouble = (text: string) => make('p', { class: 'try-trouble', role: 'alert' }, text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const pretty = (text: string): string => (isJson(text) ? JSON.stringify(JSON.parse(text), null, 2) : text);
