import { classes, parseOutsideExecutionTypedData, selector, toHex } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stranger, TransactionFixture, transferOf, USDC } from '../../testing/transactions.ts';
import { Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import type { PrepareRequest } from '../relayer/relay.ts';
import { executeUpgrade, prepareUpgrade } from '../wallets/upgrade.ts';
import { findWallet } from '../wallets/wallet.ts';
import { prepareTypedData } from './execute.ts';

let fixture: TransactionFixture;
let ana: Owner;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = new Owner();
  await fixture.wallet(ana, 'ana');
});
afterAll(() => fixture.stop());

type Body = Parameters<typeof prepareTypedData>[2];
const body = (changes: Partial<Body> = {}): Body => ({
  publicKey: ana.address,
  calls: [transferOf(stranger(), 5)],
  ...changes,
});
const prepare = (changes: Partial<Body> = {}, caller = fixture.caller()) =>
  prepareTypedData(fixture, caller, body(changes));

describe('preparing typed data', () => {
  it('answers an outside execution of the calls for the sandbox, and the wallet’s type', async () => {
    const to = stranger();
    const answer = await prepare({ calls: [transferOf(to, '0x5' as unknown as number)] });
    const parsed = parseOutsideExecutionTypedData(answer.typedData);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { execution, chainId } = parsed.value;
    expect(answer.walletType).toBe('SVC');
    expect(chainId).toBe(fixture.chain.chainId);
    expect(execution.calls).toEqual([
      { to: BigInt(USDC), selector: selector('transfer'), calldata: [BigInt(to), 5n, 0n] },
    ]);
  });

  it('takes any spelling of the wallet’s address, and what agrees with the wallet', async () => {
    const publicKey = toHex(BigInt(ana.address)).toUpperCase().replace('0X', '0x');
    const answer = await prepare({ publicKey, walletType: 'SVC', accountClassHash: classes.svc.toString() });
    expect(answer.walletType).toBe('SVC');
  });

  it.each([
    ['the wallet type', { walletType: 'READY' as const }, 'body.walletType is READY, but the wallet is of type SVC.'],
    ['the class', { accountClassHash: toHex(classes.ready) }, "body.accountClassHash is not the wallet's class"],
    ['a class that is no number', { accountClassHash: 'SVC' }, 'body.accountClassHash must be'],
    ['an address that is none', { publicKey: 'ana' }, 'body.publicKey must be 0x'],
    ['an argument', { calls: [transferOf('0x1', -1)] }, 'body.calls[0].calldata[1] must be'],
  ])('refuses a request that is wrong about %s', async (_, changes, message) => {
    expect(await refusal(prepare(changes), 'invalid_request')).toContain(message);
  });

  it('refuses an upgrade of the wallet, and no other contract’s', async () => {
    const upgrade = (contractAddress: string) => ({ contractAddress, entrypoint: 'upgrade', calldata: ['0x1'] });
    const message = await refusal(prepare({ calls: [upgrade(ana.address)] }), 'invalid_request');
    expect(message).toContain('/svc-wallets/upgrade');
    expect(await prepare({ calls: [upgrade(stranger())] })).toBeDefined();
  });

  it('believes the chain when it is told of another class than we remember', async () => {
    const owner = new Owner(classes.ready);
    await fixture.wallet(owner, 'ana');
    const kept = () => findWallet(fixture.db.reads, fixture.caller(), owner.address);
    const upgrade = await prepareUpgrade(fixture, fixture.caller(), { walletAddress: owner.address });
    const signature = owner.signatureOf(upgrade.typedData);
    const { typedData } = upgrade;
    await executeUpgrade(fixture, fixture.caller(), { walletAddress: owner.address, typedData, signature });
    expect(await kept()).toMatchObject({ walletType: 'READY' });
    const wrong = { publicKey: owner.address, accountClassHash: toHex(classes.svcPolicies) };
    expect(await refusal(prepare(wrong), 'invalid_request')).toContain(toHex(classes.svc));
    expect(await kept()).toMatchObject({ walletType: 'SVC', classHash: classes.svc });
    const right = { publicKey: owner.address, walletType: 'SVC', accountClassHash: toHex(classes.svc) } as const;
    expect(await prepare(right)).toMatchObject({ walletType: 'SVC' });
  });

  it('finds no wallet that is unknown, another organisation’s, or with a user’s token another user’s', async () => {
    const other = await fixture.newOrganization();
    const missing = await refusal(prepare({ publicKey: stranger() }), 'wallet_not_found');
    expect(missing).toContain('No wallet of yours');
    await refusal(prepare({}, fixture.caller(undefined, other)), 'wallet_not_found');
    await refusal(prepare({}, fixture.caller('luis')), 'wallet_not_found');
    expect(await prepare({}, fixture.caller('ana'))).toMatchObject({ walletType: 'SVC' });
  });

  it('is refused where the environment has no Starknet, for any wallet', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    await refusal(prepareTypedData({ ...fixture, networks }, fixture.caller(), body()), 'chain_not_configured');
  });

  it('tells the sponsor what has to be deployed, unless the wallet stands or is about to', async () => {
    const asked: PrepareRequest[] = [];
    const sponsor = {
      prepare: (request: PrepareRequest) => {
        asked.push(request);
        return fixture.sponsor.prepare(request);
      },
      sponsor: fixture.sponsor.sponsor.bind(fixture.sponsor),
    };
    const deploymentFor = async (owner: Owner) => {
      await prepareTypedData({ ...fixture, sponsor }, fixture.caller(), body({ publicKey: owner.address }));
      return asked.at(-1)?.deployment;
    };
    const owner = await fixture.unsent();
    expect(await deploymentFor(ana)).toBeUndefined();
    expect(await deploymentFor(owner)).toBeUndefined();
    await fixture.voidCreation(owner);
    expect(await deploymentFor(owner)).toEqual(owner.deployment);
  });
});
