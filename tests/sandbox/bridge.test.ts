import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectSucceeded } from '../support/assertions.ts';
import { send } from '../support/client.ts';
import { Sandbox } from '../support/sandbox.ts';
import { TestService } from '../support/service.ts';
import { Client, call, libraries, type Receipt, USDC } from '../support/starknet-client.ts';

/** Child processes start slowly on a busy machine. */
const PROCESSES_TIMEOUT_MS = 120_000;
const MESSENGER = '0x07d421b9ca8aa32df259965cda8acb93f7599f69209a41872ae84638b2a20f2a';
const OWNER = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const TOKEN_ACCOUNT = 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B';
const HOOK = `636374702d666f7277617264${'00'.repeat(12)}0000000000000021017e8c088760bfde1dddcf32c17f209b8242ee52aaf131facd88d0ea2c6d0b06f2`;
/** 65 bytes in Cairo: two words of 31, and the last three. */
const HOOK_CALLDATA = [2, `0x${HOOK.slice(0, 62)}`, `0x${HOOK.slice(62, 124)}`, `0x${HOOK.slice(124)}`, 3];
const APPROVE = call(USDC, 'approve', [MESSENGER, 1_000_000, 0]);
const DEPOSIT = call(MESSENGER, 'deposit_for_burn_with_hook', [
  ...[1_000_000, 0, 5, '326046992440607538483769016475825969116', '281684963577198880146167638033210033102'],
  ...[USDC, 0, 0, 500, 0, 1_000],
  ...HOOK_CALLDATA,
]);

interface Shown {
  readonly messages: readonly { status: string; eventNonce: string; forwardState: string; forwardTxHash: string }[];
}

let service: TestService;
beforeAll(async () => {
  service = await TestService.hosted();
});
afterAll(() => service.stop());

const burn = async (client: Client): Promise<Receipt> =>
  client.send(await client.funded('manager'), [APPROVE, DEPOSIT]);
const messages = (sandbox: Sandbox, hash: string) =>
  sandbox.ask<Shown>(`/bridge/v2/messages/25?transactionHash=${hash}`);
const balance = async (sandbox: Sandbox) =>
  BigInt((await sandbox.ask<{ balance: string }>(`/bridge/solana/accounts/${OWNER}`)).balance);

describe.each(libraries)('the bridge, with %s', (_name, library) => {
  it('mints on Solana what was burned on Starknet, less the fee', async () => {
    const sandbox = new Sandbox(service.server);
    const before = await balance(sandbox);
    const receipt = await burn(new Client(library, sandbox));
    expectSucceeded(receipt);
    // Longer than all default delays.
    await sandbox.ask('/starknet/time', { increaseSeconds: 11 });
    const { messages: shown } = await messages(sandbox, receipt.transaction_hash);
    expect(shown).toMatchObject([{ status: 'complete', forwardState: 'COMPLETE' }]);
    expect(await balance(sandbox)).toBe(before + 999_870n);
    const minted = await sandbox.ask(`/bridge/solana/transactions/${shown[0]?.forwardTxHash}`);
    expect(minted).toMatchObject({ owner: OWNER, tokenAccount: TOKEN_ACCOUNT, amount: '999870' });
  });
});

describe('the bridge', () => {
  it(
    'is the same in every process and after a kill, and pays once',
    async () => {
      const [, library] = libraries[1] ?? libraries[0] ?? [];
      if (!library) throw new Error('no library');
      const first = await service.another();
      const sandbox = new Sandbox(service.server);
      const before = await balance(sandbox);
      const { transaction_hash } = await burn(new Client(library, new Sandbox(first)));
      await sandbox.ask('/starknet/time', { increaseSeconds: 11 });
      await first.end('SIGKILL');
      const second = new Sandbox(await service.anotherHosted());
      const [one, other] = await Promise.all([messages(sandbox, transaction_hash), messages(second, transaction_hash)]);
      expect(one).toEqual(other);
      expect(await balance(second)).toBe(before + 999_870n);
    },
    PROCESSES_TIMEOUT_MS,
  );

  it(
    'is not found where the sandbox is off',
    async () => {
      const live = await TestService.hosted({ SANDBOX: 'off' });
      try {
        for (const path of ['/bridge', '/bridge/faults', '/bridge/v2/burn/USDC/fees/25/5']) {
          const reply = await send(`${live.server.origin}/sandbox${path}`);
          expect([reply.status, reply.body], path).toMatchObject([404, { error: 'not_found' }]);
        }
      } finally {
        await live.stop();
      }
    },
    PROCESSES_TIMEOUT_MS,
  );
});
