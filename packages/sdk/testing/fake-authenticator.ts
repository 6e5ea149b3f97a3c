import { createHmac, randomBytes } from 'node:crypto';
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
}

/** One passkey per domain and user, each with its own PRF secret. */
export class FakeAuthenticator implements Credentials {
  readonly created: CreationOptions[] = [];
  readonly requests: RequestOptions[] = [];
  readonly #options: FakeOptions;
  readonly #secrets = new Map<string, Buffer>();

  constructor(options: FakeOptions = {}) {
    this.#options = options;
  }

  async create({ publicKey }: { publicKey: CreationOptions }): Promise<Credential> {
    this.created.push(publicKey);
    if (this.#options.refusal) throw this.#options.refusal;
    const { prf = 'at creation' } = this.#options;
    const id = randomBytes(20);
    this.#secrets.set(id.toString('hex'), randomBytes(32));
    const results = this.#evaluate(id, publicKey.extensions.prf.eval.first);
    return this.#credential(id, { enabled: prf !== 'none', ...(prf === 'at creation' && results) });
  }

  async get({ publicKey }: { publicKey: RequestOptions }): Promise<Credential> {
    this.requests.push(publicKey);
    if (this.#options.refusal) throw this.#options.refusal;
    const [first] = this.#secrets.keys();
    const credentialId = publicKey.allowCredentials[0]?.id ?? Buffer.from(first ?? '', 'hex');
    const id = Buffer.from(credentialId);
    if (!this.#secrets.has(id.toString('hex'))) throw new DOMException('Not allowed', 'NotAllowedError');
    const none = this.#options.prf === 'none';
    return this.#credential(id, none ? undefined : this.#evaluate(id, publicKey.extensions.prf.eval.first));
  }

  #evaluate(id: Buffer, input: Uint8Array): PrfOutput {
    const secret = this.#secrets.get(id.toString('hex')) ?? '';
    const round = this.#options.unsteady ? String(this.requests.length) : '';
    const output = createHmac('sha512', secret).update(input).update(round).digest();
    return { results: { first: new Uint8Array(output).slice(0, this.#options.secretBytes ?? 32).buffer } };
  }

  #credential(id: Buffer, prf: PrfOutput | undefined): Credential {
    const { attachment = 'platform' } = this.#options;
    return {
      rawId: new Uint8Array(id).buffer,
      authenticatorAttachment: attachment,
      getClientExtensionResults: () => (prf ? { prf } : {}),
    };
  }
}
