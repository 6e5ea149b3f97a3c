import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { payment, type Sender } from '../support/sandbox.ts';
import { startSandbox } from '../support/service.ts';
import { Devnet } from './support/devnet.ts';
import { answerTo, differenceOf, type Probed, probes } from './support/probes.ts';

const GUIDE = path.resolve(import.meta.dirname, '../../docs/sandbox.md');

let devnet: Devnet;
let stop: (() => Promise<void>) | undefined;
let nodes: readonly [sandbox: Probed, devnet: Probed];

async function probed(url: string, sender: Sender, fresh: Sender, blockNumber: () => Promise<number>): Promise<Probed> {
  const first = payment(sender, 0, 0xb0bn);
  const headers = { 'content-type': 'application/json' };
  const reply = await (await fetch(url, { method: 'POST', headers, body: first.body })).text();
  if (!reply.includes(first.hash)) throw new Error(`${url} did not take the first transaction: ${reply}`);
  return { url, sender, fresh, hash: first.hash, blockNumber: await blockNumber() };
}

beforeAll(async () => {
  devnet = await Devnet.start({ blocks: 'transaction', chainId: 'SVC_SANDBOX' });
  const started = await startSandbox();
  stop = started.stop;
  const { sandbox } = started;
  const number = async () => (await sandbox.show()).blockNumber;
  nodes = [
    await probed(sandbox.rpcUrl, await sandbox.account('relayer 1'), await sandbox.account('relayer 2'), number),
    await probed(devnet.rpcUrl, devnet.account('relayer 1'), devnet.account('relayer 2'), () => devnet.blockNumber()),
  ];
});
afterAll(async () => {
  await stop?.();
  await devnet?.stop();
});

it(`the sandbox answers ${probes.length} requests as devnet does, but for the differences that are listed`, async () => {
  const found: string[] = [];
  for (const [name, request] of probes) {
    const [own, real] = [await answerTo(nodes[0], request(nodes[0])), await answerTo(nodes[1], request(nodes[1]))];
    if (JSON.stringify(own) === JSON.stringify(real)) continue;
    found.push(`| ${name} | ${differenceOf(own, real)} | ${differenceOf(real, own)} |`);
  }
  const [, table = ''] = /## Differences from devnet\n([\s\S]*?)\n## /.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  expect(table).toContain(`the same ${probes.length} requests`);
  const listed = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| request'));
  expect(found).toEqual(listed.map((line) => `${line.split(' | ').slice(0, 3).join(' | ')} |`));
});
