import { createHmac, hkdfSync, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { hasLeadingZeros, MAX_PROOF_LENGTH, PROOF_BYTES, type ProofOfWork } from '@svc/protocol';
import { type Db, sql } from '@svc/store';

const derive = promisify(pbkdf2);

/** A thousand attempts of half a millisecond: about a second on a laptop, some on a phone. Checking one costs half a millisecond. */
const ITERATIONS = 1_000;
const DIFFICULTY = 10;
/** Time to solve it on a slow phone. */
const LIFETIME_SECONDS = 300;
const ID_BYTES = 16;
const MAC_BYTES = 16;
const PROOF =
  /^(?<payload>(?<expires>\d{1,12})\.(?<difficulty>\d{1,2})\.(?<id>[0-9a-f]{32}))\.(?<mac>[0-9a-f]{32})\.(?<solution>\d{1,12})$/;

export interface SolvedProof {
  /** Unique for each challenge: a proof is used once. */
  readonly id: string;
  readonly expiresAt: Date;
}

/** Challenges that every replica can check, because they carry their time and a MAC. Nothing is stored until a solution is used. */
export class ClaimProofs {
  readonly #key: Uint8Array;
  readonly #difficulty: number;
  readonly #now: () => number;

  constructor(key: Uint8Array, difficulty: number = DIFFICULTY, now: () => number = Date.now) {
    this.#key = key;
    this.#difficulty = difficulty;
    this.#now = now;
  }

  issue(): ProofOfWork & { readonly expiresAt: Date } {
    const expires = Math.floor(this.#now() / 1_000) + LIFETIME_SECONDS;
    const payload = `${expires}.${this.#difficulty}.${randomBytes(ID_BYTES).toString('hex')}`;
    const challenge = `${payload}.${this.#mac(payload).toString('hex')}`;
    return { challenge, iterations: ITERATIONS, difficulty: this.#difficulty, expiresAt: new Date(expires * 1_000) };
  }

  /** Undefined where it is not a solution of an unexpired challenge of this deployment. The cheap checks come first. */
  async check(proof: string): Promise<SolvedProof | undefined> {
    const fields = proof.length <= MAX_PROOF_LENGTH ? PROOF.exec(proof)?.groups : undefined;
    if (!fields) return undefined;
    const { payload = '', expires, difficulty, id = '', mac = '', solution = '' } = fields;
    const expiresAt = new Date(Number(expires) * 1_000);
    if (!timingSafeEqual(Buffer.from(mac, 'hex'), this.#mac(payload))) return undefined;
    if (expiresAt.getTime() <= this.#now()) return undefined;
    const digest = await derive(solution, `${payload}.${mac}`, ITERATIONS, PROOF_BYTES, 'sha256');
    return hasLeadingZeros(digest, Number(difficulty)) ? { id, expiresAt } : undefined;
  }

  #mac(payload: string): Buffer {
    return createHmac('sha256', this.#key).update(payload).digest().subarray(0, MAC_BYTES);
  }
}

const SECRET_NAME = 'root';
const SECRET_BYTES = 32;

/** Equal in all processes on this database. The first start makes the secret of the deployment that it is derived from. */
export async function proofKey(db: Db): Promise<Uint8Array> {
  await db.run(sql`
    insert into deployment_secrets (name, secret) values (${SECRET_NAME}, ${randomBytes(SECRET_BYTES)})
    on conflict (name) do nothing`);
  const row = await db.one<{ secret: Buffer }>(sql`select secret from deployment_secrets where name = ${SECRET_NAME}`);
  if (!row) throw new Error('The secret of the deployment was not stored.');
  return new Uint8Array(hkdfSync('sha256', row.secret, '', 'svc claim proofs', SECRET_BYTES));
}
