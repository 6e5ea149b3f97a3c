import { afterEach, beforeEach, expect, it } from 'vitest';
import { invoke, payment, relayer, startTestNode, type TestNode, transfer } from '../../testing/test-node.ts';

let writer: TestNode;
let reader: TestNode;
beforeEach(async () => {
  writer = await startTestNode();
  reader = await startTestNode({ database: writer.database });
});
afterEach(async () => {
  await reader.stop();
  await writer.stop();
});

/** All that a node says of a transaction and its block. */
async function answers(node: TestNode, hash: string): Promise<unknown[]> {
  const receipt = await node.call<{ block_number: number }>('getTransactionReceipt', [hash]);
  const id = { block_number: receipt.block_number };
  const ofBlock = ['getBlockWithTxHashes', 'getBlockWithTxs', 'getBlockWithReceipts', 'getBlockTransactionCount'];
  const ofTransaction = ['getTransactionByHash', 'getTransactionStatus'];
  return [
    receipt,
    ...(await Promise.all(ofBlock.map((method) => node.call(method, [id])))),
    ...(await Promise.all(ofTransaction.map((method) => node.call(method, [hash])))),
  ];
}

it('a node says the same of a block that it wrote as one that reads it from the database', async () => {
  const nothing = invoke([], { nonce: 1n });
  const reverted = invoke([transfer('USDC', 0xb0bn, 10n ** 30n)], { nonce: 2n });
  const twice = invoke([transfer('STRK', 1n, 1n), transfer('STRK', 1n, 2n)], { nonce: 3n });
  for (const tx of [payment(0n), nothing, reverted, twice]) {
    const hash = await writer.send(tx);
    expect(await answers(writer, hash)).toEqual(await answers(reader, hash));
  }
  // Stored together.
  const many = await Promise.all(
    [2, 3, 4].map((number) => writer.send(payment(0n, 0xb0bn, { from: relayer(number) }))),
  );
  for (const hash of many) expect(await answers(writer, hash)).toEqual(await answers(reader, hash));
});

it('a node forgets what another one removed from the chain', async () => {
  const { block_number: before } = await writer.call<{ block_number: number }>('blockHashAndNumber');
  const hash = await writer.send(payment(0n));
  await reader.node.command({ do: 'reorganise', blocks: 1, transactions: 'drop' });
  expect((await writer.fail('getTransactionReceipt', [hash])).code).toBe(29);
  expect((await writer.fail('getBlockWithTxHashes', [{ block_number: before + 1 }])).code).toBe(24);
  const instead = await reader.send(payment(0n, 0xcafen));
  expect(await answers(writer, instead)).toEqual(await answers(reader, instead));
});

it('a block that is filled for some time has all of its transactions', async () => {
  await writer.node.command({ do: 'set-block-time', seconds: 3_600 });
  const first = await writer.send(payment(0n));
  const second = await writer.send(payment(1n));
  await writer.node.command({ do: 'mine', blocks: 1 });
  for (const hash of [first, second]) expect(await answers(writer, hash)).toEqual(await answers(reader, hash));
  expect(await writer.call('getBlockTransactionCount', ['latest'])).toBe(2);
});
