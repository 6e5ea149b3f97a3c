import { toHex } from '@svc/starknet';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { relayer, transfer } from '../../testing/chain.ts';
import { useIndexer } from '../../testing/indexer.ts';
import { padAddress } from '../chains/starknet/chain.ts';
import type { NewRecord } from '../transactions/record.ts';
import { insertRecords } from '../transactions/record-store.ts';
import { newId } from '../util/ids.ts';
import type { WalletRecord } from '../wallets/wallet.ts';

const fixture = useIndexer();
const STRK = '0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d';

/** As it is stored before its transaction is sent. */
function pendingSend(sender: WalletRecord, recipient: WalletRecord, given: Partial<NewRecord>): NewRecord {
  const { organizationId, environment, apiPublicKey } = sender;
  return {
    organizationId,
    environment,
    apiPublicKey,
    type: 'SEND',
    subType: 'TRANSFER',
    chain: 'STARKNET',
    transactionHash: undefined,
    eventIndex: undefined,
    relayId: undefined,
    callIndex: 0,
    senderAddress: sender.address,
    destinationAddress: recipient.address,
    contractAddress: STRK,
    contractName: 'STRK',
    functionName: 'transfer',
    functionSelector: undefined,
    token: 'STRK',
    tokenAddress: STRK,
    amount: 5n,
    status: 'PENDING',
    blockNumber: undefined,
    senderWalletId: sender.id,
    destinationWalletId: recipient.id,
    createdAt: new Date(),
    confirmedAt: undefined,
    ...given,
  };
}

/** A relay with two transactions of which the second replaced the first. */
async function insertRelay(first: string, second: string): Promise<string> {
  const id = newId('rly');
  const nonce = BigInt(second) & 0xffffffn;
  const chainId = toHex(fixture().chain.chainId);
  await fixture().db.tx(async (tx) => {
    await tx.run(sql`
      insert into relays (id, environment, chain_id, kind, purpose, message_hash, wallet, not_after, account, nonce, content,
        state, hash)
      values (${id}, 'development', ${chainId}, 'calls', ${id}, '0x1', '0x2', now(), '0x4', ${nonce}, '{}', 'SENT', ${second})`);
    await tx.run(sql`
      insert into relay_attempts (chain_id, hash, relay_id, kind, transaction)
      values (${chainId}, ${first}, ${id}, 'FIRST', ''), (${chainId}, ${second}, ${id}, 'BUMP', '')`);
  });
  return id;
}

describe('a transfer between two wallets of an organisation', () => {
  it('that the history has already, waiting for its event, is left to its sender', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const id = await organization();
    const sender = await wallet(id, { address: relayer(1).address });
    const recipient = await wallet(id);
    const transactionHash = await send([transfer('STRK', BigInt(recipient.address), 5n)]);
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, { transactionHash })]));
    await index();
    expect(await history(recipient)).toMatchObject([{ type: 'SEND', status: 'PENDING', eventIndex: undefined }]);
  });

  it('that happens twice in a transaction, and of which the history has one, is added once', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const id = await organization();
    const sender = await wallet(id, { address: relayer(2).address });
    const recipient = await wallet(id);
    const call = transfer('STRK', BigInt(recipient.address), 5n);
    const transactionHash = await send([call, call], 2);
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, { transactionHash })]));
    await index();
    const types = (await history(recipient)).map(({ type, eventIndex }) => [type, eventIndex]);
    expect(types).toEqual([
      ['SEND', 1],
      ['SEND', undefined],
    ]);
  });

  it('is known by its relay when the fee was raised and the transaction has another hash', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const id = await organization();
    const sender = await wallet(id, { address: relayer(3).address });
    const recipient = await wallet(id);
    const executed = await send([transfer('STRK', BigInt(recipient.address), 5n)], 3);
    const relayId = await insertRelay('0xf125', executed);
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, { transactionHash: '0xf125', relayId })]));
    await index();
    expect(await history(recipient)).toMatchObject([{ type: 'SEND', transactionHash: '0xf125' }]);
    // Settled, taken back by a reorganisation, and executed by the other transaction.
    const again = await send([transfer('STRK', BigInt(recipient.address), 5n)], 3);
    const settled = { transactionHash: '0xf126', relayId: await insertRelay('0xf126', again), eventIndex: 0 };
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, settled)]));
    await index();
    expect((await history(recipient)).map(({ type }) => type)).toEqual(['SEND', 'SEND']);
  });

  it('that had failed without a relay succeeds again when the chain shows it after all', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const id = await organization();
    const sender = await wallet(id);
    const recipient = await wallet(id);
    const transactionHash = await send([transfer('STRK', BigInt(recipient.address), 5n)]);
    const given = { transactionHash, status: 'FAILED', senderAddress: padAddress(relayer(1).address) } as const;
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, given)]));
    await index();
    expect(await history(recipient)).toMatchObject([{ type: 'SEND', status: 'SUCCESS', eventIndex: 0 }]);
  });

  it('gives the recipient a record of its own where the sender’s is in another organisation', async () => {
    const { db, index, organization, wallet, send, history } = fixture();
    await index();
    const sender = await wallet(await organization(), { address: relayer(4).address });
    const recipient = await wallet(await organization());
    const transactionHash = await send([transfer('STRK', BigInt(recipient.address), 5n)], 4);
    await db.tx((tx) => insertRecords(tx, [pendingSend(sender, recipient, { transactionHash })]));
    await index();
    expect(await history(recipient)).toMatchObject([{ type: 'RECEIVE', senderWalletId: undefined }]);
    expect(await history(sender)).toMatchObject([{ type: 'SEND', status: 'PENDING' }]);
  });
});
