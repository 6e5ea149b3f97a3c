import { randomBytes } from 'node:crypto';
import type { BodyOf, endpoints, Treasury, TreasuryProposal } from '@svc/protocol';
import { outsideExecutionHash, parseOutsideExecutionTypedData, sign, starkKey, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { padAddress } from '../src/chains/starknet/chain.ts';
import type { Call, Caller } from '../src/http/call.ts';
import { createOrganization } from '../src/organizations/api-keys.ts';
import type { Sponsor } from '../src/relayer/relay.ts';
import {
  cancelProposal,
  executeProposal,
  expireProposals,
  getProposal,
  signProposal,
  treasuryOutcomes,
} from '../src/treasuries/proposals.ts';
import { changePolicy, createProposal } from '../src/treasuries/propose.ts';
import { createTreasury, requireTreasury, type TreasuryDeps, toTreasury } from '../src/treasuries/treasury.ts';
import { type ChainChanges, testCrypto } from './chain.ts';
import { RelayerFixture } from './relayer.ts';

export class TestSigner {
  readonly privateKey = BigInt(`0x${randomBytes(31).toString('hex')}`);
  readonly publicKey = toHex(starkKey(this.privateKey));

  sign({ typedData }: TreasuryProposal, { address }: Treasury): { publicKey: string; signature: [string, string] } {
    const read = parseOutsideExecutionTypedData(typedData);
    if (!read.ok) throw new Error(read.reason);
    const hash = outsideExecutionHash(2, read.value.execution, BigInt(address), read.value.chainId);
    const { r, s } = sign(hash, this.privateKey);
    return { publicKey: this.publicKey, signature: [toHex(r), toHex(s)] };
  }
}

export const signersOf = (count: number): TestSigner[] => Array.from({ length: count }, () => new TestSigner());

export interface TestTreasury {
  readonly treasury: Treasury;
  readonly signers: readonly TestSigner[];
}

const environment = 'development' as const;
const PUBLIC_URL = 'https://svc.example';

/** Treasuries on a sandbox, with a relay worker that runs when a test says so. */
export class TreasuryFixture {
  readonly relayers: RelayerFixture;
  readonly caller: Caller;

  static async start(): Promise<TreasuryFixture> {
    const relayers = await RelayerFixture.start();
    const organizationId = await createOrganization(relayers.db, 'Tienda Azul');
    return new TreasuryFixture(relayers, organizationId);
  }

  private constructor(relayers: RelayerFixture, organizationId: string) {
    this.relayers = relayers;
    // A request that waits runs passes of the worker, too.
    Object.assign(relayers.deps.outcomes, treasuryOutcomes(PUBLIC_URL));
    const key = { keyId: 'pk_1', secretKeyId: 'sk_1', apiPublicKey: 'pk_dev_1', proof: 'secret key' } as const;
    this.caller = { organizationId, environment, ...key, externalUserId: undefined };
  }

  get db() {
    return this.relayers.db;
  }

  deps(sponsor: Sponsor = this.relayers.sponsor): TreasuryDeps {
    const networks = this.relayers.networksWith({});
    return { db: this.db, networks, crypto: testCrypto, sponsor, publicUrl: PUBLIC_URL };
  }

  #call(params: object | undefined, body: unknown, caller: Caller): Call<never> {
    return { params, body, caller, requestKey: undefined, transact: this.db.tx } as unknown as Call<never>;
  }

  /** Runs the relay worker until nothing is open. */
  finish(chain: ChainChanges = {}): Promise<void> {
    return this.relayers.finish(chain);
  }

  /** Deployed, with 1 USDC. */
  async treasury(
    signers: readonly TestSigner[],
    threshold: number,
    limits: object[] = [],
    emails: readonly (string | undefined)[] = [],
  ): Promise<TestTreasury> {
    const named = signers.map(({ publicKey }, index) => ({
      name: `Signer ${index}`,
      publicKey,
      email: emails[index] ?? null,
    }));
    const body = { name: 'Caja', signers: named, threshold, limits };
    const { id } = await createTreasury(this.deps(), this.#call(undefined, body, this.caller));
    await this.finish();
    const treasury = await this.read(id);
    await this.relayers.sandbox.faucet(treasury.address, 'USDC', '1');
    return { treasury, signers };
  }

  async read(id: string): Promise<Treasury> {
    const deps = this.deps();
    return toTreasury(deps.networks, await requireTreasury(this.db.reads, this.caller, id));
  }

  propose(
    { treasury }: TestTreasury,
    body: BodyOf<typeof endpoints.createTreasuryProposal>,
    caller: Caller = this.caller,
  ): Promise<TreasuryProposal> {
    return createProposal(this.deps(), this.#call({ id: treasury.id }, body, caller)) as Promise<TreasuryProposal>;
  }

  /** A transfer of units of USDC to a new address. */
  async payment(of: TestTreasury, units = 1, more: object = {}): Promise<TreasuryProposal & { to: bigint }> {
    const to = this.relayers.newAddress();
    const transfers = [{ token: 'USDC' as const, recipient: toHex(to), amount: (units / 1e6).toFixed(6) }];
    return { ...(await this.propose(of, { transfers, ...more })), to };
  }

  changePolicy(
    { treasury }: TestTreasury,
    body: BodyOf<typeof endpoints.changeTreasuryPolicy>,
  ): Promise<TreasuryProposal> {
    return changePolicy(this.deps(), this.#call({ id: treasury.id }, body, this.caller)) as Promise<TreasuryProposal>;
  }

  sign({ treasury }: TestTreasury, proposal: TreasuryProposal, signer: TestSigner): Promise<TreasuryProposal> {
    return this.send(treasury, proposal, signer.sign(proposal, treasury));
  }

  send(
    { id }: Treasury,
    proposal: TreasuryProposal,
    body: BodyOf<typeof endpoints.signTreasuryProposal>,
  ): Promise<TreasuryProposal> {
    return signProposal(this.deps(), this.caller, { id, proposalId: proposal.id }, body);
  }

  execute(proposal: TreasuryProposal, sponsor?: Sponsor): Promise<TreasuryProposal> {
    const place = { id: proposal.treasuryId, proposalId: proposal.id };
    return executeProposal(this.deps(sponsor), this.caller, place);
  }

  cancel(proposal: TreasuryProposal, caller: Caller = this.caller): Promise<TreasuryProposal> {
    const params = { id: proposal.treasuryId, proposalId: proposal.id };
    return cancelProposal(this.deps(), this.#call(params, undefined, caller)) as Promise<TreasuryProposal>;
  }

  get(proposal: Pick<TreasuryProposal, 'id' | 'treasuryId'>): Promise<TreasuryProposal> {
    return getProposal(this.deps(), this.caller, { id: proposal.treasuryId, proposalId: proposal.id });
  }

  expire(): Promise<number> {
    return expireProposals({ ...this.deps(), environments: [environment] }, environment);
  }

  balance(address: bigint): Promise<bigint> {
    return this.relayers.balance(address);
  }

  async events(proposal: TreasuryProposal): Promise<string[]> {
    const rows = await this.db.rows<{ type: string }>(sql`
      select type from events where data->>'proposalId' = ${proposal.id} order by id`);
    return rows.map(({ type }) => type.replace('treasury.proposal.', ''));
  }

  /** Recipients, and what each was told. */
  async mails({ id }: TreasuryProposal): Promise<[recipient: string, event: string][]> {
    const rows = await this.db.rows<{ recipient: string; event: string }>(sql`
      select recipient, content->>'event' as event from mails where content->>'proposalId' = ${id} order by id`);
    return rows.map(({ recipient, event }) => [recipient, event]);
  }

  async relaysOf({ address }: Treasury): Promise<number> {
    const row = await this.db.one<{ relays: number }>(sql`
      select count(*)::integer as relays from relays where wallet = ${padAddress(BigInt(address))} and kind = 'treasury'`);
    return row?.relays ?? 0;
  }
}
