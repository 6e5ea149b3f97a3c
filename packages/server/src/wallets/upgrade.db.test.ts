import { ApiError } from '@svc/protocol';
import { classes, outsideExecutionTypedData, selector, toHex, UNREPAIRED_SVC_CLASS } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../testing/jobs.ts';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import { createWallet } from './create-wallet.ts';
import { confirmUpgrade, executeUpgrade, prepareUpgrade, type UpgradedWallet, walletJobs } from './upgrade.ts';
import { findWallet } from './wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

const prepare = (owner: Owner, targetClassHash?: bigint) =>
  prepareUpgrade(fixture, fixture.caller(), {
    walletAddress: owner.address,
    ...(targetClassHash !== undefined && { targetClassHash: toHex(targetClassHash) }),
  });
const execute = (owner: Owner, typedData: Record<string, unknown>, signature = owner.signatureOf(typedData)) =>
  executeUpgrade(fixture, fixture.caller(), { walletAddress: owner.address, typedData, signature });
const kept = (owner: Owner) => findWallet(fixture.db.reads, fixture.caller(), owner.address);
const classAt = (owner: Owner) => fixture.networks.starknet('development').chain.classHashAt(BigInt(owner.address));

async function walletOf(classHash: bigint): Promise<Owner> {
  const owner = new Owner(classHash);
  await fixture.wallet(owner, 'ana');
  return owner;
}

/** Does what the outcome left to be done. */
async function doJobs(): Promise<void> {
  const rows = await fixture.db.rows<{ payload: UpgradedWallet }>(
    sql`delete from jobs where task = 'confirm-upgrade' returning payload`,
  );
  const confirm = walletJobs({ ...fixture, log: silent })['confirm-upgrade'] as (
    payload: UpgradedWallet,
  ) => Promise<void>;
  for (const { payload } of rows) await confirm(payload);
}

/** Typed data of another upgrade than would be prepared. */
async function typedDataOf(calls: { to: bigint; selector: bigint; calldata: bigint[] }[]) {
  const environment = 'development';
  const execution = await fixture.sponsor.prepare({ environment, account: 0n, deployment: undefined, calls });
  return { ...outsideExecutionTypedData(execution, fixture.networks.starknet(environment).chain.chainId) };
}
const UPGRADE = selector('upgrade');

describe('upgrading a wallet', () => {
  it.each([
    ['READY', classes.ready],
    ['SVC', classes.svcPolicies],
    ['SVC', classes.svcSessions],
    ['SVC', UNREPAIRED_SVC_CLASS],
  ] as const)('leads from %s to the current class, which counts when the chain has it', async (type, from) => {
    const owner = await walletOf(from);
    const prepared = await prepare(owner);
    expect(prepared).toMatchObject({
      currentClassHash: toHex(from),
      targetClassHash: toHex(classes.svc),
      currentWalletType: type,
      targetWalletType: 'SVC',
    });
    const answer = await execute(owner, prepared.typedData);
    expect(answer).toMatchObject({ newClassHash: toHex(classes.svc), newWalletType: 'SVC' });
    expect(await classAt(owner)).toBe(classes.svc);
    expect(await kept(owner)).toMatchObject({ classHash: from, walletType: type });
    await fixture.settle(answer.transactionHash);
    const tenants = await fixture.db.rows(sql`select tenant from jobs where task = 'confirm-upgrade'`);
    expect(tenants).toEqual([{ tenant: fixture.caller().organizationId }]);
    await doJobs();
    expect(await kept(owner)).toMatchObject({ classHash: classes.svc, walletType: 'SVC' });
  });

  it('answers the same transaction again, also after the wallet has its new class', async () => {
    const owner = await walletOf(classes.ready);
    const { typedData } = await prepare(owner);
    const first = await execute(owner, typedData);
    expect(await classAt(owner)).toBe(classes.svc);
    expect(await execute(owner, typedData)).toEqual(first);
  });

  it('leads to another known class when asked', async () => {
    const owner = await walletOf(classes.svcSessions);
    const { typedData, targetClassHash } = await prepare(owner, classes.svcPolicies);
    expect(targetClassHash).toBe(toHex(classes.svcPolicies));
    await execute(owner, typedData);
    expect(await classAt(owner)).toBe(classes.svcPolicies);
  });

  it('goes by the class on the chain, not by what we remember', async () => {
    const owner = await walletOf(classes.svcPolicies);
    const { transactionHash } = await execute(owner, (await prepare(owner)).typedData);
    expect(await kept(owner)).toMatchObject({ classHash: classes.svcPolicies });
    expect(await refusal(prepare(owner), 'class_not_allowed')).toContain('already');
    await fixture.settle(transactionHash, 'REVERTED');
    await doJobs();
    expect(await kept(owner)).toMatchObject({ classHash: classes.svc });
  });

  it('is asked for again, less and less often and without an end, while no node has seen its block', async () => {
    const { address } = await walletOf(classes.svc);
    const key = `development ${address}`;
    const now = Date.parse('2026-06-01T00:00:00Z');
    const away = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    const ahead = { environment: 'development', address, blockNumber: 1_000_000 } as const;
    const pauses: number[] = [];
    for (const looks of [0, 1, 30]) {
      const networks = looks === 1 ? away : fixture.networks;
      await confirmUpgrade({ db: fixture.db, networks, log: silent, now: () => now }, { ...ahead, looks });
      const job = await fixture.db.one<{ payload: UpgradedWallet; run_at: Date }>(
        sql`delete from jobs where task = 'confirm-upgrade' and key = ${key} returning payload, run_at`,
      );
      expect(job?.payload).toEqual({ ...ahead, looks: looks + 1 });
      pauses.push((job?.run_at.getTime() ?? 0) - now);
    }
    expect(pauses).toEqual([1_000, 2_000, 30_000]);
  });

  it('logs every retry with the wallet, and with the error where there is one', async () => {
    const { address } = await walletOf(classes.svc);
    const lines: { fields: object; message: string }[] = [];
    const note = (fields: object, message: string) => void lines.push({ fields, message });
    const log = { info: note, warn: note, error: note };
    const error = new ApiError('chain_unavailable');
    const away = {
      starknet() {
        throw error;
      },
    };
    const payload = { environment: 'development', address, blockNumber: 1_000_000, looks: 3 } as const;
    await confirmUpgrade({ db: fixture.db, networks: away, log }, payload);
    await confirmUpgrade({ db: fixture.db, networks: fixture.networks, log }, payload);
    await fixture.db.run(sql`delete from jobs where task = 'confirm-upgrade'`);
    const about = { environment: 'development', address, blockNumber: 1_000_000, retries: 3 };
    expect(lines).toEqual([
      { fields: { ...about, err: error }, message: 'class of an upgraded wallet not readable, retrying' },
      { fields: about, message: 'no node has the block of the upgrade yet, retrying' },
    ]);
  });
});

describe('upgrading a wallet is refused', () => {
  it('for a wallet of another organisation, as if it were missing', async () => {
    const owner = await walletOf(classes.ready);
    const other = fixture.caller(undefined, await fixture.newOrganization());
    const body = { walletAddress: owner.address };
    const message = await refusal(prepareUpgrade(fixture, other, body), 'wallet_not_found');
    const missing = { walletAddress: new Owner().address };
    expect(await refusal(prepareUpgrade(fixture, fixture.caller(), missing), 'wallet_not_found')).toBe(message);
  });

  it('while the wallet is not deployed', async () => {
    const owner = new Owner(classes.ready);
    const body = await fixture.request(owner, 'ana');
    await fixture.sandbox.post('/starknet/faults', { kind: 'revert', reason: 'out of luck' });
    const { txHash } = await createWallet(fixture, fixture.caller(), body);
    expect(await refusal(prepare(owner), 'wallet_not_deployed')).toContain('Wait');
    await fixture.settle(txHash);
    expect(await refusal(prepare(owner), 'wallet_not_deployed')).toContain(
      'The deployment failed; create the wallet again.',
    );
  });

  it('to the class that it has, to READY, and to one that could not carry it', async () => {
    const svc = await walletOf(classes.svc);
    const ready = await walletOf(classes.ready);
    expect(await refusal(prepare(svc), 'class_not_allowed')).toContain('already');
    expect(await refusal(prepare(svc, classes.ready), 'class_not_allowed')).toContain('READY');
    expect(await refusal(prepare(svc, 0x1234n), 'class_not_allowed')).toContain('not declared');
    expect(await refusal(prepare(ready, classes.svcPolicies), 'class_not_allowed')).toContain('perform_upgrade');
  });

  it('to a class that cannot be read', async () => {
    const { address } = await walletOf(classes.ready);
    const body = { walletAddress: address, targetClassHash: 'newest' };
    expect(await refusal(prepareUpgrade(fixture, fixture.caller(), body), 'invalid_request')).toContain(
      'body.targetClassHash',
    );
    const nowhere = prepareUpgrade(fixture, fixture.caller(), { walletAddress: '0x0' });
    expect(await refusal(nowhere, 'invalid_request')).toContain('body.walletAddress');
  });

  it('for anything but exactly one upgrade of the wallet itself', async () => {
    const owner = await walletOf(classes.svcPolicies);
    const to = BigInt(owner.address);
    const good = { to, selector: UPGRADE, calldata: [classes.svc] };
    const wrong = [
      [],
      [good, good],
      [{ ...good, to: 0x77n }],
      [{ ...good, selector: selector('set_public_key') }],
      [{ ...good, calldata: [classes.svc, 0n] }],
      [{ ...good, calldata: [] }],
      [{ ...good, calldata: [0n] }],
    ];
    for (const calls of wrong) await refusal(execute(owner, await typedDataOf(calls)), 'invalid_typed_data');
    const notAllowed = await typedDataOf([{ ...good, calldata: [classes.ready] }]);
    await refusal(execute(owner, notAllowed), 'class_not_allowed');
    expect(await classAt(owner)).toBe(classes.svcPolicies);
  });

  it('without the signature of the owner', async () => {
    const owner = await walletOf(classes.svcPolicies);
    const { typedData } = await prepare(owner);
    await refusal(execute(owner, typedData, new Owner().signatureOf(typedData, owner.address)), 'invalid_signature');
    const session = new Owner();
    const [r = '', s = ''] = session.signatureOf(typedData, owner.address);
    const bySession = execute(owner, typedData, [toHex(session.key), r, s, '0x7fffffff']);
    expect(await refusal(bySession, 'invalid_signature')).toContain('owner');
  });
});
