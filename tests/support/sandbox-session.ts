import type { Call } from 'starknet';
import type { Sandbox } from './sandbox.ts';
import { Client, call, type Kind, type Receipt, USDC, type Wallet } from './sandbox-client.ts';
import type { Account, Library } from './sandbox-libraries.ts';

export interface SessionChanges {
  readonly validUntil?: number;
  readonly maxCalls?: number;
  readonly entrypoints?: readonly string[];
}

export interface PolicyChanges {
  readonly token?: string;
  readonly maxPerCall?: bigint;
  readonly maxPerWindow?: bigint;
  readonly windowSeconds?: number;
}

/** Within the clock's reach of any test, far beyond any window. */
const SESSION_SECONDS = 1_000_000;

/** Signs as a session does, with four felts; transactions and outside executions alike. */
function sessionSigner(library: Library, privateKey: string, validUntil: number) {
  class SessionSigner extends library.Signer {
    protected override async signRaw(hash: string): Promise<string[]> {
      const { r, s } = library.ec.starkCurve.sign(hash, privateKey);
      return [await this.getPubKey(), library.num.toHex(r), library.num.toHex(s), library.num.toHex(validUntil)];
    }
  }
  return new SessionSigner(privateKey);
}

/** A wallet, a session key of it, and a relayer who sends what either of them signs. The clock stands still. */
export class SessionWallet {
  readonly client: Client;
  readonly wallet: Wallet;
  readonly relayer: Account;
  readonly sessionPrivateKey: string;
  readonly sessionKey: string;

  private constructor(client: Client, wallet: Wallet, relayer: Account) {
    this.client = client;
    this.wallet = wallet;
    this.relayer = relayer;
    this.sessionPrivateKey = client.library.stark.randomAddress();
    this.sessionKey = client.library.ec.starkCurve.getStarkKey(this.sessionPrivateKey);
  }

  static async open(library: Library, sandbox: Sandbox, kind: Kind): Promise<SessionWallet> {
    await sandbox.freeze();
    const client = new Client(library, sandbox, 'pre_confirmed');
    return new SessionWallet(client, await client.openWallet(kind), await client.funded('relayer 1'));
  }

  get address(): string {
    return this.wallet.address;
  }

  /** The account as the session's key signs for it. */
  as(validUntil: number, privateKey = this.sessionPrivateKey): Account {
    return this.client.account(this.address, sessionSigner(this.client.library, privateKey, validUntil));
  }

  /** The owner's word to the account itself. */
  own(entrypoint: string, calldata: (string | number | bigint)[]): Promise<Receipt> {
    return this.client.send(this.wallet.account, call(this.address, entrypoint, calldata));
  }

  async addSession({ validUntil, maxCalls = 100, entrypoints = [] }: SessionChanges = {}): Promise<number> {
    const until = validUntil ?? (await this.client.sandbox.clock()) + SESSION_SECONDS;
    const selectors = entrypoints.map((name) => this.client.library.hash.getSelectorFromName(name));
    const { revert_reason } = await this.own('add_or_update_session_key', [
      this.sessionKey,
      until,
      maxCalls,
      selectors.length,
      ...selectors,
    ]);
    if (revert_reason) throw new Error(revert_reason);
    return until;
  }

  async setPolicy(changes: PolicyChanges = {}): Promise<void> {
    const { token = USDC, maxPerCall = 50n, maxPerWindow = 80n, windowSeconds = 100 } = changes;
    const limits = [...halves(maxPerCall), ...halves(maxPerWindow), windowSeconds];
    const { revert_reason } = await this.own('set_spending_policy', [this.sessionKey, token, ...limits]);
    if (revert_reason) throw new Error(revert_reason);
  }

  /** Signed by the session, sent and paid by the relayer. */
  relayed(calls: Call | Call[], validUntil: number, privateKey?: string): Promise<Receipt> {
    return this.client.sendFor(this.relayer, this.as(validUntil, privateKey), calls);
  }

  /** Signed by the session as a transaction of the account, which pays. */
  direct(calls: Call | Call[], validUntil: number, privateKey?: string): Promise<Receipt> {
    return this.client.send(this.as(validUntil, privateKey), calls);
  }

  private async read(entrypoint: string, calldata: string[]): Promise<bigint[]> {
    const request = { contractAddress: this.address, entrypoint, calldata };
    return (await this.client.provider.callContract(request)).map(BigInt);
  }

  async session() {
    const [validUntil, maxCalls, callsUsed, entrypoints] = await this.read('get_session_data', [this.sessionKey]);
    return { validUntil, maxCalls, callsUsed, entrypoints };
  }

  async policy(token = USDC) {
    const felts = await this.read('get_spending_policy', [this.sessionKey, token]);
    return { spentInWindow: felts[5], windowStart: felts[7] };
  }

  balance(token: string, owner: string): Promise<bigint> {
    return this.client.balance(token, owner);
  }
}

/** A u256 in calldata. */
export function halves(amount: bigint): [bigint, bigint] {
  return [amount & (2n ** 128n - 1n), amount >> 128n];
}
