import { classes, encodeAddOrUpdateSessionKey, selector, toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type CallText,
  type ExecuteBody,
  STRK,
  stranger,
  TransactionFixture,
  transferOf,
  USDC,
} from '../../testing/transactions.ts';
import { Owner, refusal } from '../../testing/wallets.ts';
import { Networks } from '../chains/networks.ts';
import { findWallet } from '../wallets/wallet.ts';
import { executeSponsored, type TransactionDeps } from './execute.ts';

let fixture: TransactionFixture;
let ana: Owner;
beforeAll(async () => {
  fixture = await TransactionFixture.start();
  ana = await fixture.funded('ana');
});
afterAll(() => fixture.stop());
afterEach(() => {
  fixture.sponsor.knowsHashes = true;
});

const execute = (body: ExecuteBody, caller = fixture.caller()) => executeSponsored(fixture, caller, body);
const balance = (owner: string, token = USDC) => fixture.chain.balanceOf(BigInt(token), BigInt(owner));
const recordCount = async () =>
  (await fixture.db.one<{ count: bigint }>(sql`select count(*) from transactions`))?.count;

describe('executing signed calls', () => {
  it.each([
    ['SVC', classes.svc],
    ['READY', classes.ready],
  ])('moves tokens of a wallet of type %s and keeps the transfer in the history', async (_, classHash) => {
    const owner = await fixture.funded('luis', classHash);
    const to = stranger();
    const hash = await fixture.execute(owner, [transferOf(to, 2_500_000)]);
    expect(hash).toMatch(/^0x[1-9a-f][0-9a-f]*$/);
    expect(await balance(to)).toBe(2_500_000n);
    const wallet = await findWallet(fixture.db.reads, fixture.caller(), owner.address);
    expect(await fixture.records(hash)).toMatchObject([
      {
        type: 'SEND',
        subType: 'TRANSFER',
        status: 'PENDING',
        transactionHash: hash,
        apiPublicKey: 'pk_dev_1',
        senderAddress: owner.address,
        senderWalletId: wallet?.id,
        destinationAddress: to,
        token: 'USDC',
        amount: 2_500_000n,
        functionName: 'transfer',
        eventIndex: undefined,
        callIndex: 0,
      },
    ]);
  });

  it('of a custom class is not sponsored while the organisation lists what is', async () => {
    const owner = await fixture.funded('luis', classes.svcSessions);
    const { organizationId, environment } = fixture.caller();
    const body = await fixture.signed(owner, [transferOf(stranger(), 1)]);
    const networks: TransactionDeps['networks'] = new Proxy(fixture.networks, {
      get: (target, name) =>
        name !== 'starknet'
          ? Reflect.get(target, name)
          : (each: 'development') => {
              const network = target.starknet(each);
              const walletClasses = network.walletClasses.filter(({ classHash }) => classHash !== classes.svcSessions);
              return { ...network, walletClasses };
            },
    });
    await fixture.db.run(sql`
      insert into sponsorship_settings (organization_id, environment, allowed_entrypoints)
      values (${organizationId}, ${environment}, '{transfer}')`);
    try {
      const strange = executeSponsored({ ...fixture, networks }, fixture.caller(), body);
      await expect(strange).rejects.toMatchObject({ code: 'sponsorship_not_allowed' });
      expect(await execute(body)).toMatchObject({ transactionHash: expect.any(String) });
    } finally {
      await fixture.db.run(sql`delete from sponsorship_settings`);
    }
  });

  it('keeps every call of several', async () => {
    const approve: CallText = { contractAddress: STRK, entrypoint: 'approve', calldata: [stranger(), '7', '0'] };
    const hash = await fixture.execute(ana, [transferOf(stranger(), 1), approve, transferOf(stranger(), 2, STRK)]);
    const records = await fixture.records(hash);
    expect(records.map(({ type, subType, token, functionName }) => [type, subType, token, functionName])).toEqual([
      ['SEND', 'MULTICALL', 'USDC', 'transfer'],
      ['CONTRACT_CALL', 'MULTICALL', undefined, 'approve'],
      ['SEND', 'MULTICALL', 'STRK', 'transfer'],
    ]);
  });

  it('knows a recipient’s wallet if it is of the same organisation, and no other', async () => {
    const eva = await fixture.funded('eva');
    const abroad = fixture.caller(undefined, await fixture.newOrganization());
    const foreign = new Owner();
    await fixture.walletOf(foreign, abroad);
    const hash = await fixture.execute(ana, [transferOf(eva.address, 1), transferOf(foreign.address, 1)]);
    const wallet = await findWallet(fixture.db.reads, fixture.caller(), eva.address);
    expect(await fixture.records(hash)).toMatchObject([
      { destinationWalletId: wallet?.id },
      { destinationWalletId: undefined },
    ]);
  });

  it('remembers what a function was called when it was prepared', async () => {
    const call: CallText = { contractAddress: USDC, entrypoint: 'balance_of', calldata: [ana.address] };
    const hash = await fixture.execute(ana, [call]);
    expect(await fixture.records(hash)).toMatchObject([{ type: 'CONTRACT_CALL', functionName: 'balance_of' }]);
  });

  it('with a session’s signature is a SESSION record', async () => {
    const session = new Owner();
    const validUntil = BigInt(Math.floor(Date.now() / 1_000) + 3_600);
    const calldata = encodeAddOrUpdateSessionKey({
      sessionKey: session.key,
      validUntil,
      maxCalls: 5n,
      allowedEntrypoints: [],
    });
    const register = {
      contractAddress: ana.address,
      entrypoint: 'add_or_update_session_key',
      calldata: calldata.map(toHex),
    };
    const registered = await fixture.execute(ana, [register]);
    expect(await fixture.records(registered)).toMatchObject([{ functionName: 'add_or_update_session_key' }]);

    const body = await fixture.signed(ana, [transferOf(stranger(), 3)]);
    const [r = '', s = ''] = session.signatureOf(body.typedData, ana.address);
    const userSignature = [toHex(session.key), r, s, validUntil.toString()];
    const { transactionHash } = await execute({ ...body, userSignature, isSessionSignature: true });
    expect(await fixture.records(transactionHash)).toMatchObject([{ type: 'SEND', subType: 'SESSION' }]);
  });

  it('leaves the history alone when it is told so', async () => {
    const to = stranger();
    const hash = await fixture.execute(ana, [transferOf(to, 4)], { saveToDatabase: false });
    expect(await balance(to)).toBe(4n);
    expect(await fixture.records(hash)).toEqual([]);
  });

  it('executes the same signed calls once, however often they are sent', async () => {
    const to = stranger();
    const body = await fixture.signed(ana, [transferOf(to, 10)]);
    const answers = await Promise.all([execute(body), execute(body), execute(body, fixture.caller('ana'))]);
    expect(new Set(answers.map(({ transactionHash }) => transactionHash)).size).toBe(1);
    expect(await balance(to)).toBe(10n);
    expect(await fixture.records(answers[0]?.transactionHash ?? '')).toHaveLength(1);
  });

  it('shows the record under the hash that a paymaster told later', async () => {
    fixture.sponsor.knowsHashes = false;
    const hash = await fixture.execute(ana, [transferOf(stranger(), 1)]);
    expect(await fixture.records(hash)).toMatchObject([{ status: 'PENDING', transactionHash: hash }]);
  });
});

describe('a wallet that is not deployed', () => {
  it('is waited for while its creation is under way', async () => {
    const owner = await fixture.unsent();
    const body = await fixture.signed(owner, [transferOf(stranger(), 1)]);
    expect(await refusal(execute(body), 'wallet_not_deployed')).toContain('is being deployed. Try again');
  });

  it('is deployed together with its calls after its creation came to nothing', async () => {
    const owner = await fixture.unsent();
    await fixture.voidCreation(owner);
    await fixture.sandbox.post('/faucet', { address: owner.address, token: 'USDC', amount: '1' });
    const to = stranger();
    const hash = await fixture.execute(owner, [transferOf(to, 6)]);
    expect(await balance(to)).toBe(6n);
    expect(await fixture.chain.classHashAt(BigInt(owner.address))).toBe(owner.classHash);
    await fixture.applyOutcome(hash);
    expect(await findWallet(fixture.db.reads, fixture.caller(), owner.address)).toMatchObject({ isDeployed: true });
  });
});

describe('calls that are refused', () => {
  const refused = async (
    changes: Partial<ExecuteBody>,
    code: Parameters<typeof refusal>[1],
    caller = fixture.caller(),
  ) => {
    const body = await fixture.signed(ana, [transferOf(stranger(), 1)]);
    const before = await recordCount();
    const message = await refusal(execute({ ...body, ...changes }, caller), code);
    expect(await recordCount()).toBe(before);
    return message;
  };

  it('are those of a wallet that does not exist for the caller', async () => {
    await refused({ publicKey: stranger() }, 'wallet_not_found');
    await refused({}, 'wallet_not_found', fixture.caller('luis'));
    await refused({}, 'wallet_not_found', fixture.caller(undefined, await fixture.newOrganization()));
  });

  it('are those whose wallet is said to be of another type, or whose address is none', async () => {
    expect(await refused({ walletType: 'READY' }, 'invalid_request')).toContain('body.walletType is READY');
    expect(await refused({ publicKey: '0x' }, 'invalid_request')).toContain('body.publicKey');
  });

  it('are those that another key signed, or whose typed data was changed', async () => {
    const { typedData } = await fixture.signed(ana, [transferOf(stranger(), 1)]);
    await refused({ userSignature: new Owner().sign(typedData, ana.address) }, 'invalid_signature');
    await refused({ typedData }, 'invalid_signature');
    await refused({ typedData: { ...typedData, primaryType: 'Call' } }, 'invalid_typed_data');
  });

  it('are those whose time is over', async () => {
    const { typedData } = await fixture.signed(ana, [transferOf(stranger(), 1)]);
    const now = Math.floor(Date.now() / 1_000);
    const message = { ...(typedData.message as object), 'Execute After': now - 3_000, 'Execute Before': now - 10 };
    const late = { ...typedData, message };
    await refused({ typedData: late, userSignature: ana.sign(late) }, 'typed_data_expired');
  });

  it('are those that upgrade the wallet, for every signer and caller', async () => {
    const to = BigInt(ana.address);
    const upgrade = { to, selector: selector('upgrade'), calldata: [classes.svcPolicies] };
    const typedData = await fixture.typedData([{ to: 0x77n, selector: upgrade.selector, calldata: [] }, upgrade]);
    const body = { typedData, userSignature: ana.sign(typedData) };
    for (const caller of [fixture.caller(), fixture.caller('ana')]) {
      const message = await refused(body, 'invalid_request', caller);
      expect(message).toContain('Call 1 upgrades the wallet');
      expect(message).toContain('/svc-wallets/prepare-upgrade');
    }
  });

  it('are none at all', async () => {
    const typedData = await fixture.typedData([]);
    const message = await refused({ typedData, userSignature: ana.sign(typedData) }, 'invalid_typed_data');
    expect(message).toContain('has no calls');
  });

  it('are those that would revert, with the chain’s own reason, and nothing is stored', async () => {
    const body = await fixture.signed(ana, [transferOf(stranger(), 10n ** 18n)]);
    const before = await recordCount();
    expect(await refusal(execute(body), 'transaction_reverted')).toMatch(/insufficient|balance/i);
    expect(await recordCount()).toBe(before);
  });

  it('are all where the environment has no Starknet', async () => {
    const networks = new Networks({ starknet: undefined, evmRpcUrls: {} }, undefined);
    const body = await fixture.signed(ana, [transferOf(stranger(), 1)]);
    await refusal(executeSponsored({ ...fixture, networks }, fixture.caller(), body), 'chain_not_configured');
  });
});
