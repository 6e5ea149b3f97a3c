import { classes, contractAddress, selector, toHex } from '@svc/starknet';
import { FUNDS, START } from '../../../contracts/scenarios/fixtures.ts';
import type { Felt, KeyName, Place, Scenario, ScenarioEvent, Step } from '../../../contracts/scenarios/model.ts';
import type { ShownAccount } from '../../support/sandbox.ts';
import { STRK, UDC, USDC } from '../../support/starknet-client.ts';
import type { Chain, Invocation, Sent } from './chain.ts';
import { reasonOf, reasonOfCall } from './reason.ts';
import { type Addresses, callOf, feltOf, signatureOf, signedByAll, signedCalldata } from './sign.ts';

export const USDT = '0x68f5c6a61780768455de69077e07e89787839bf8166decfbf92b645209c0fb8';

/** For transactions that an account pays itself. */
const FEES = 10n ** 21n;
/** READY's own events, which scenarios ignore. */
const READY_EVENTS = ['SignerLinked', 'AccountCreated', 'AccountCreatedGuid', 'TransactionExecuted'].map(selector);

interface RawEvent {
  readonly from: bigint;
  readonly keys: readonly bigint[];
  readonly data: readonly bigint[];
}

export type Found =
  | { readonly succeeds: readonly bigint[]; readonly events: readonly RawEvent[] }
  | { readonly reverts: string }
  | { readonly refused: string }
  | { readonly fails: 'by the system' };

export interface Accounts {
  readonly relayer: ShownAccount;
  readonly stranger: ShownAccount;
  readonly faucet: ShownAccount;
  /** Whether the faucet mints tokens or has them. */
  readonly funding: 'mint' | 'transfer';
}

export class Player {
  readonly #chain: Chain;
  readonly #accounts: Accounts;
  readonly #number: bigint;
  readonly #guards: KeyName[] = ['owner'];
  #map: Addresses;

  /** `classUnderTest` is what scenarios call the SVC class. */
  constructor(chain: Chain, accounts: Accounts, number: number, classUnderTest: bigint = classes.svc) {
    this.#chain = chain;
    this.#accounts = accounts;
    this.#number = BigInt(number);
    this.#map = {
      wallet: 0n,
      other: 0n,
      token: BigInt(USDC),
      coin: BigInt(USDT),
      relayer: BigInt(accounts.relayer.address),
      stranger: BigInt(accounts.stranger.address),
      bob: (0xb0bn << 32n) + this.#number,
      'SVC class': classUnderTest,
      'READY class': classes.ready,
    };
  }

  async begin(): Promise<void> {
    await this.#chain.node.setClock(Number(START));
  }

  async play(step: Step): Promise<Found> {
    switch (step.kind) {
      case 'clock':
        await this.#chain.node.setClock(Number(step.at));
        return { succeeds: [], events: [] };
      case 'deploy':
        return this.#deploy(step);
      case 'relay': {
        const calldata = signedCalldata(this.#map, step.signed);
        const to = this.#map[step.signed.account];
        return this.#by(step.sender, { to, selector: selector('execute_from_outside_v2'), calldata });
      }
      case 'transaction': {
        const from = { address: toHex(this.#map[step.account]), privateKey: '0x1' };
        const calls = step.calls.map((call) => callOf(this.#map, call));
        const sent = await this.#chain.send(from, calls, (hash) => signatureOf(hash, step.signature));
        return this.#found(sent, (execution) => execution);
      }
      case 'call':
        return step.sender === 'wallet' ? this.#itself(step) : this.#by(step.sender, callOf(this.#map, step.call));
      case 'read': {
        const { result, error } = await this.#chain.ask(callOf(this.#map, step.call));
        if (error) return { reverts: reasonOfCall(error) };
        return { succeeds: (result as string[]).map(BigInt), events: [] };
      }
    }
  }

  expected({ outcome }: Step): Found {
    if ('reverts' in outcome) return { reverts: outcome.onNode };
    if (!('succeeds' in outcome)) return outcome;
    const raw = (felt: Felt) => feltOf(this.#map, felt);
    const rawEvent = ({ from, name, keys, data }: ScenarioEvent) => ({
      from: this.#map[from],
      keys: [selector(name), ...keys.map(raw)],
      data: data.map(raw),
    });
    return { succeeds: outcome.succeeds.map(raw), events: outcome.events.map(rawEvent) };
  }

  async #deploy({ as, of, calldata: given }: Extract<Step, { kind: 'deploy' }>): Promise<Found> {
    const salt = 2n * this.#number + (as === 'wallet' ? 0n : 1n);
    const classHash = this.#map[of];
    const calldata = given.map((felt) => feltOf(this.#map, felt));
    const address = contractAddress({ salt, classHash, constructorCalldata: calldata, deployer: 0n });
    this.#map = { ...this.#map, [as]: address };
    if (of === 'READY class' && calldata.length > 3) this.#guards.push('second');
    const place = [classHash, salt, 0n, BigInt(calldata.length), ...calldata];
    const deployment = { to: BigInt(UDC), selector: selector('deploy_contract'), calldata: place };
    const sent = await this.#chain.send(this.#accounts.faucet, [deployment]);
    const found = this.#found(sent, () => ({ result: [], calls: [] }));
    if (as === 'wallet' && 'succeeds' in found) await this.#fund(address);
    return found;
  }

  async #fund(address: bigint): Promise<void> {
    const amounts = [
      [USDC, FUNDS],
      [USDT, FUNDS],
      [STRK, FEES],
    ] as const;
    const payments = amounts.map(([token, amount]) => ({
      to: BigInt(token),
      selector: selector(this.#accounts.funding),
      calldata: [address, amount, 0n],
    }));
    await this.#chain.send(this.#accounts.faucet, payments);
  }

  async #by(sender: Place, call: ReturnType<typeof callOf>): Promise<Found> {
    const from = sender === 'stranger' ? this.#accounts.stranger : this.#accounts.relayer;
    return this.#found(await this.#chain.send(from, [call]), ({ calls }) => calls[0]);
  }

  /** READY calls itself with the signatures of all its keys. */
  async #itself({ call }: Extract<Step, { kind: 'call' }>): Promise<Found> {
    const calldata = signedByAll(this.#map, this.#guards, call);
    const outside = { to: this.#map.wallet, selector: selector('execute_from_outside_v2'), calldata };
    const sent = await this.#chain.send(this.#accounts.relayer, [outside]);
    return this.#found(sent, ({ calls }) => calls[0]?.calls[0]);
  }

  #found(sent: Sent, answer: (execution: Invocation) => Invocation | undefined): Found {
    if ('refused' in sent) return { refused: reasonOf(sent.refused) };
    const { receipt, execution } = sent;
    if (receipt.execution_status === 'REVERTED') return { reverts: reasonOf(receipt.revert_reason ?? '') };
    const result = execution && answer(execution)?.result;
    if (!result) throw new Error('The trace does not show the call.');
    return { succeeds: result.map(BigInt), events: this.#watched(receipt.events) };
  }

  #watched(all: Extract<Sent, { hash: string }>['receipt']['events']): RawEvent[] {
    const { wallet, other, token, coin } = this.#map;
    return all
      .map(({ from_address, keys, data }) => ({
        from: BigInt(from_address),
        keys: keys.map(BigInt),
        data: data.map(BigInt),
      }))
      .filter(({ from }) => [wallet, other, token, coin].includes(from))
      .filter(({ keys: [name = 0n] }) => !READY_EVENTS.includes(name));
  }
}

export async function firstDifference(player: Player, scenario: Scenario) {
  await player.begin();
  for (const [index, step] of scenario.steps.entries()) {
    const found = await player.play(step);
    const expected = player.expected(step);
    if (!isSame(expected, found)) return { step: index + 1, of: shown(step), expected, found };
  }
  return undefined;
}

function isSame(expected: Found, found: Found): boolean {
  // The message of a system failure differs per system.
  if ('fails' in expected) return 'reverts' in found && found.reverts.includes('\n');
  return shown(expected) === shown(found);
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? toHex(one) : one));
}
