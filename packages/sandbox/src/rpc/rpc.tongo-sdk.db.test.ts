import { Account, logger, RpcProvider } from 'starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SandboxServer, startSandbox } from '../../testing/sandbox-server.ts';
import { loadTongoSdk, type TongoAccount, type TongoCall } from '../../testing/tongo-sdk.ts';

const POOL = '0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6c';
const USDC = '0x33068f6539f8e6e6b131e6b2b814e6c34a5224bc66947c47dab9dfee93b35fb';
const OUTSIDE = '0xb0b';
/** Blocks are instant; the library's default is five seconds. */
const WAIT = { retryInterval: 10 };

let server: SandboxServer;
let provider: RpcProvider;
let wallet: Account;
let alice: TongoAccount;
let bob: TongoAccount;

beforeAll(async () => {
  logger.setLogLevel('ERROR');
  server = await startSandbox();
  provider = new RpcProvider({ nodeUrl: server.rpcUrl });
  const shown = (await (await fetch(`${server.url}/starknet`)).json()) as {
    accounts: { label: string; address: string; privateKey: string }[];
  };
  const manager = shown.accounts.find(({ label }) => label === 'manager');
  if (!manager) throw new Error('The sandbox shows no manager.');
  wallet = new Account({ provider, address: manager.address, signer: manager.privateKey });
  const sdk = await loadTongoSdk();
  const own = new sdk.starknet.RpcProvider({ nodeUrl: server.rpcUrl });
  alice = new sdk.Account(0xa11cen, POOL, own);
  bob = new sdk.Account(0xb0bn, POOL, own);
});
afterAll(() => server.stop());

async function send(...calls: (TongoCall | undefined)[]): Promise<void> {
  const sent = await wallet.execute(calls.filter((one) => one !== undefined));
  const receipt = await provider.waitForTransaction(sent.transaction_hash, WAIT);
  expect(receipt.isSuccess(), JSON.stringify(receipt.value)).toBe(true);
}

async function usdc(owner: string): Promise<bigint> {
  const [low = '0x0'] = await provider.callContract({
    contractAddress: USDC,
    entrypoint: 'balance_of',
    calldata: [owner],
  });
  return BigInt(low);
}

describe("Tongo's own package without a change", () => {
  it('funds, transfers, rolls over, withdraws, quits and tells what happened', async () => {
    const sender = wallet.address;
    const before = await usdc(OUTSIDE);
    const fund = await alice.fund({ amount: 100n, sender });
    await send(fund.approve, fund.toCalldata());
    expect(await alice.state()).toEqual({ balance: 100n, pending: 0n, nonce: 1n });

    await send((await alice.transfer({ amount: 30n, to: bob.publicKey, sender })).toCalldata());
    expect(await alice.state()).toEqual({ balance: 70n, pending: 0n, nonce: 2n });
    expect(await bob.state()).toEqual({ balance: 0n, pending: 30n, nonce: 0n });

    await send((await bob.rollover({ sender })).toCalldata());
    expect(await bob.state()).toEqual({ balance: 30n, pending: 0n, nonce: 1n });

    await send((await bob.withdraw({ amount: 12n, to: OUTSIDE, sender })).toCalldata());
    expect(await bob.state()).toEqual({ balance: 18n, pending: 0n, nonce: 2n });

    await send((await bob.ragequit({ to: OUTSIDE, sender })).toCalldata());
    expect(await bob.state()).toEqual({ balance: 0n, pending: 0n, nonce: 3n });
    expect([(await usdc(OUTSIDE)) - before, await usdc(POOL)]).toEqual([30n, 70n]);

    const history = (await bob.getTxHistory(0)).map(({ type, amount }) => [type, amount]);
    expect(history).toEqual([
      ['ragequit', 18n],
      ['withdraw', 12n],
      ['rollover', 30n],
      ['transferIn', 30n],
    ]);
    expect(server.complaints).toEqual([]);
  });
});
