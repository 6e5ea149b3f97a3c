import { createHash, createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { CreationOptions, Credential, Credentials, PrfOutput, RequestOptions } from '../src/passkeys/web-authn.ts';

export interface FakeOptions {
  /** When the PRF is evaluated: at creation, in a later assertion, or never. */
  readonly prf?: 'at creation' | 'later' | 'none';
  readonly attachment?: string | null;
  readonly refusal?: Error;
  /** Returns another secret with each assertion. */
  readonly unsteady?: boolean;
  /** 32 in the standard. */
  readonly secretBytes?: number;
  /** Of the page, as the browser would write it into its answers. */
  readonly origin?: string;
}

interface Held {
  readonly id: Buffer;
  readonly secret: Buffer;
  readonly privateKey: KeyObject;
}

const PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

/** One passkey per domain and user, each with its own PRF secret and a key that signs as the standard says. */
export class FakeAuthenticator implements Credentials {
  readonly created: CreationOptions[] = [];
  readonly requests: RequestOptions[] = [];
  readonly #options: FakeOptions;
  readonly #held = new Map<string, Held>();

  constructor(options: FakeOptions = {}) {
    this.#options = options;
  }

  async create({ publicKey }: { publicKey: CreationOptions }): Promise<Credential> {
    this.created.push(publicKey);
    if (this.#options.refusal) throw this.#options.refusal;
    const { prf = 'at creation' } = this.#options;
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const held = { id: randomBytes(20), secret: randomBytes(32), privateKey: keys.privateKey };
    this.#held.set(held.id.toString('hex'), held);
    const results = this.#evaluate(held, publicKey.extensions.prf.eval.first);
    const length = Buffer.from([0, held.id.length]);
    const attested = Buffer.concat([Buffer.alloc(16), length, held.id, coseKey(keys.publicKey)]);
    const authData = authenticatorData(publicKey.rp.id, PRESENT_AND_VERIFIED | HAS_CREDENTIAL, attested);
    const response = {
      clientDataJSON: this.#clientData('webauthn.create', publicKey.challenge),
      attestationObject: buffer(cbor({ fmt: 'none', attStmt: {}, authData })),
      getTransports: () => ['internal'],
    };
    return this.#credential(held, response, { enabled: prf !== 'none', ...(prf === 'at creation' && results) });
  }

  async get({ publicKey }: { publicKey: RequestOptions }): Promise<Credential> {
    this.requests.push(publicKey);
    if (this.#options.refusal) throw this.#options.refusal;
    const [first] = this.#held.keys();
    const named = publicKey.allowCredentials[0]?.id;
    const held = this.#held.get(named ? Buffer.from(named).toString('hex') : (first ?? ''));
    if (!held) throw new DOMException('Not allowed', 'NotAllowedError');
    const none = this.#options.prf === 'none';
    const prf = none ? undefined : this.#evaluate(held, publicKey.extensions.prf.eval.first);
    const authData = authenticatorData(publicKey.rpId, PRESENT_AND_VERIFIED);
    const clientDataJSON = this.#clientData('webauthn.get', publicKey.challenge);
    const signed = Buffer.concat([authData, createHash('sha256').update(Buffer.from(clientDataJSON)).digest()]);
    const signature = buffer(createSign('sha256').update(signed).sign(held.privateKey));
    return this.#credential(held, { clientDataJSON, authenticatorData: buffer(authData), signature }, prf);
  }

  #evaluate({ secret }: Held, input: Uint8Array): PrfOutput {
    const round = this.#options.unsteady ? String(this.requests.length) : '';
    const output = createHmac('sha512', secret).update(input).update(round).digest();
    return { results: { first: new Uint8Array(output).slice(0, this.#options.secretBytes ?? 32).buffer } };
  }

  #clientData(type: string, challenge: Uint8Array): ArrayBuffer {
    const { origin = 'http://localhost' } = this.#options;
    const text = { type, challenge: Buffer.from(challenge).toString('base64url'), origin, crossOrigin: false };
    return buffer(Buffer.from(JSON.stringify(text)));
  }

  #credential({ id }: Held, response: Record<string, unknown>, prf: PrfOutput | undefined): Credential {
    const { attachment = 'platform' } = this.#options;
    return {
      rawId: buffer(id),
      authenticatorAttachment: attachment,
      response,
      getClientExtensionResults: () => (prf ? { prf } : {}),
    };
  }
}

const buffer = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

function authenticatorData(rpId = 'localhost', flags: number, attested = Buffer.alloc(0)): Buffer {
  const counter = Buffer.alloc(4);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counter, attested]);
}

/** ES256 on P-256, in the key format of COSE. */
function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = [x, y].map((part) => Buffer.from(part, 'base64url'));
  return cbor(
    new Map<number, number | Buffer>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, point[0] ?? Buffer.alloc(0)],
      [-3, point[1] ?? Buffer.alloc(0)],
    ]),
  );
}

type Cbor = number | string | Buffer | Map<number, number | Buffer> | { readonly [name: string]: Cbor };

/** The part of CBOR that authenticators write. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([key, item]) => [cbor(key), cbor(item as Cbor)])]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}
