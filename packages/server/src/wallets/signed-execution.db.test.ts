import { ANY_CALLER, chainIds, classes, selector, toHex } from '@svc/starknet';
import { typedData as snip12, type TypedData } from 'starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Owner, refusal, WalletFixture } from '../../testing/wallets.ts';
import { readSignedExecution, type SignedExecutionText } from './signed-execution.ts';
import { findWallet, type WalletRecord } from './wallet.ts';

let fixture: WalletFixture;
const [owner, ready] = [new Owner(), new Owner(classes.ready)];
let wallet: WalletRecord;
let readyWallet: WalletRecord;

beforeAll(async () => {
  fixture = await WalletFixture.start();
  wallet = await kept(owner);
  readyWallet = await kept(ready);
});
afterAll(() => fixture.stop());

async function kept(of: Owner): Promise<WalletRecord> {
  await fixture.wallet(of, 'ana');
  const found = await findWallet(fixture.db.reads, fixture.caller(), of.address);
  if (!found) throw new Error('The wallet was not stored.');
  return found;
}

const call = { to: 0x77n, selector: selector('transfer'), calldata: [1n, 2n, 0n] };
const read = (text: SignedExecutionText, of = wallet) => readSignedExecution(fixture, of, text);

/** Typed data with changes of its message, signed by the owner after them. */
async function changed(changes: Record<string, unknown>): Promise<SignedExecutionText> {
  const typedData = await fixture.typedData([call]);
  const message = { ...(typedData.message as object), ...changes };
  const altered = { ...typedData, message };
  return { typedData: altered, signature: owner.sign(altered) };
}

const now = async () => Math.floor((await fixture.networks.starknet('development').time()).getTime() / 1_000);

describe('an execution that the owner signed', () => {
  it('is read, with the signature as an object or a list, in hexadecimal or decimal', async () => {
    const typedData = await fixture.typedData([call]);
    const { r, s } = owner.sign(typedData);
    const expected = {
      execution: { caller: ANY_CALLER, calls: [call] },
      signature: [BigInt(r), BigInt(s)],
      isSession: false,
      messageHash: BigInt(snip12.getMessageHash(typedData as unknown as TypedData, owner.address)),
    };
    expect(await read({ typedData, signature: { r, s } })).toMatchObject(expected);
    expect(await read({ typedData, signature: [r, s], isSession: false })).toMatchObject(expected);
    const decimal = [BigInt(r).toString(), BigInt(s).toString()];
    expect(await read({ typedData, signature: decimal })).toMatchObject(expected);
  });

  it('is refused when anything of it was altered', async () => {
    const { typedData, signature } = await changed({});
    const { message } = typedData as { message: object };
    for (const change of [{ Nonce: '0x1' }, { Calls: [] }]) {
      const altered = { ...(typedData as object), message: { ...message, ...change } };
      await refusal(read({ typedData: altered, signature }), 'invalid_signature');
    }
  });

  it('is refused for another wallet and from another key', async () => {
    const typedData = await fixture.typedData([call]);
    await refusal(read({ typedData, signature: owner.sign(typedData) }, readyWallet), 'invalid_signature');
    const stranger = new Owner().signatureOf(typedData, owner.address);
    await refusal(read({ typedData, signature: stranger }), 'invalid_signature');
    await refusal(read({ typedData, signature: ['0', '0'] }), 'invalid_signature');
  });

  it('is accepted from the owner whom the contract has meanwhile', async () => {
    const [first, second] = [new Owner(), new Owner()];
    const theirs = await kept(first);
    const account = BigInt(first.address);
    const change = { to: account, selector: selector('set_public_key'), calldata: [second.key] };
    const typedData = await fixture.typedData([change]);
    const { execution, signature } = await read({ typedData, signature: first.sign(typedData) }, theirs);
    const user = { organizationId: wallet.organizationId, externalUserId: wallet.externalUserId };
    const sponsorship = { kind: 'calls', environment: 'development', account, deployment: undefined, user } as const;
    await fixture.sponsor.sponsor({ ...sponsorship, execution, signature }, async () => {});
    const next = await fixture.typedData([call]);
    expect(await read({ typedData: next, signature: second.sign(next, first.address) }, theirs)).toBeDefined();
    const stranger = new Owner().sign(next, first.address);
    await refusal(read({ typedData: next, signature: stranger }, theirs), 'invalid_signature');
  });
});

describe('typed data', () => {
  it('is refused when it is not an outside execution of this chain', async () => {
    const { typedData, signature } = await changed({});
    const { domain } = typedData as { domain: object };
    await refusal(read({ typedData: { hello: 'world' }, signature }), 'invalid_typed_data');
    const mainnet = { ...(typedData as object), domain: { ...domain, chainId: toHex(chainIds.SN_MAIN) } };
    const message = await refusal(read({ typedData: mainnet, signature: owner.sign(mainnet) }), 'invalid_typed_data');
    expect(message).toContain(toHex(chainIds.SVC_SANDBOX));
  });

  it('is valid between its times, which are an hour apart at most', async () => {
    const at = await now();
    const window = (after: number, before: number) => changed({ 'Execute After': after, 'Execute Before': before });
    expect(await read(await window(at - 1_800, at + 1_800))).toBeDefined();
    await refusal(read(await window(at - 1_800, at + 1_801)), 'invalid_typed_data');
    await refusal(read(await window(at + 1_000, at + 1_800)), 'invalid_typed_data');
    await refusal(read(await window(at + 1_800, at - 1_800)), 'invalid_typed_data');
    await refusal(read(await window(at - 1_800, at - 1)), 'typed_data_expired');
    await refusal(read(await window(0, 1)), 'typed_data_expired');
  });

  it('has as many calls and felts as one that is prepared, and is refused before it is hashed otherwise', async () => {
    const checked: unknown[] = [];
    const crypto = { ...fixture.crypto, checkExecution: async (check: never) => checked.push(check) as never };
    const signature = ['0x1', '0x1'];
    const refused = async (calls: (typeof call)[]) => {
      const text = { typedData: await fixture.typedData(calls), signature };
      return refusal(readSignedExecution({ ...fixture, crypto }, wallet, text), 'invalid_typed_data');
    };
    expect(await refused(Array(65).fill(call))).toContain('65 calls');
    expect(await refused([{ ...call, calldata: Array(4_498).fill(1n) }])).toContain('4501 felts');
    expect(checked).toEqual([]);
    const typedData = await fixture.typedData([{ ...call, calldata: Array(4_497).fill(1n) }]);
    expect(await read({ typedData, signature: owner.sign(typedData) })).toBeDefined();
  });

  it('is for any caller, unless a paymaster elsewhere names its own', async () => {
    const text = await changed({ Caller: '0x1234' });
    await refusal(read(text), 'invalid_typed_data');
    expect(await readSignedExecution({ ...fixture, callers: 'any' }, wallet, text)).toBeDefined();
  });
});

describe('an execution that a session signed', () => {
  const session = new Owner();

  async function signedBySession(changes: { validUntil?: string } = {}, of = owner) {
    const typedData = await fixture.typedData([call]);
    const [r = '', s = ''] = session.signatureOf(typedData, of.address);
    return { typedData, signature: [toHex(session.key), r, s, changes.validUntil ?? '0x7fffffff'] };
  }

  it('is checked with the key that it names, whether that is registered or not', async () => {
    const { typedData, signature } = await signedBySession();
    const expected = { isSession: true, signature: signature.map(BigInt) };
    expect(await read({ typedData, signature })).toMatchObject(expected);
    expect(await read({ typedData, signature, isSession: true })).toMatchObject(expected);
    const [, ...rest] = signature;
    await refusal(read({ typedData, signature: [toHex(owner.key), ...rest] }), 'invalid_signature');
    const byOwner = [toHex(session.key), ...owner.signatureOf(typedData), '0x7fffffff'];
    await refusal(read({ typedData, signature: byOwner }), 'invalid_signature');
  });

  it('is refused when its time is none', async () => {
    const text = await signedBySession({ validUntil: toHex(2n ** 64n) });
    expect(await refusal(read(text), 'invalid_signature')).toContain('valid');
  });

  it('is refused for a READY wallet', async () => {
    const text = await signedBySession({}, ready);
    expect(await refusal(read(text, readyWallet), 'invalid_signature')).toContain('READY wallets have no session keys');
  });

  it('is accepted for a wallet that is READY in our books but not on the chain any more', async () => {
    const stale: WalletRecord = { ...wallet, walletType: 'READY', classHash: classes.ready };
    expect(await read(await signedBySession(), stale)).toMatchObject({ isSession: true });
  });

  it('is refused in any other length', async () => {
    const { typedData, signature } = await signedBySession();
    for (const length of [0, 1, 3]) {
      const message = await refusal(read({ typedData, signature: signature.slice(0, length) }), 'invalid_signature');
      expect(message).toContain(`${length} items`);
    }
  });

  it('is refused when the request says the opposite of its length', async () => {
    const { typedData, signature } = await signedBySession();
    const wrong = read({ typedData, signature, isSession: false });
    expect(await refusal(wrong, 'invalid_request')).toContain('isSessionSignature');
    const byOwner = { typedData, signature: owner.sign(typedData), isSession: true };
    await refusal(read(byOwner), 'invalid_request');
  });

  it('names the item that cannot be read', async () => {
    const { typedData, signature } = await signedBySession();
    const text = { typedData, signature: [...signature.slice(0, 3), 'soon'], field: 'body.signature' };
    expect(await refusal(read(text), 'invalid_request')).toContain('body.signature[3] ');
  });
});
