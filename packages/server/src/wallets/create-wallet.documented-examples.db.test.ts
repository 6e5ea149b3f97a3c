import { type BodyOf, type endpoints, exampleOf, openApiDocument, type Schema, type Schemas } from '@svc/protocol';
import { toHex, walletClasses } from '@svc/starknet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WalletFixture } from '../../testing/wallets.ts';
import { configHandlers } from '../chains/module.ts';
import { prepareCreation } from './create-wallet.ts';

let fixture: WalletFixture;
beforeAll(async () => {
  fixture = await WalletFixture.start();
});
afterAll(() => fixture.stop());

interface Operation {
  readonly requestBody?: { readonly content: Record<string, { schema: Schema }> };
  readonly responses: Record<string, { content: Record<string, { schema: Schema }> }>;
}
const document = openApiDocument('https://svc.example/v1') as unknown as {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Schemas };
};
const example = (content: Record<string, { schema: Schema }> | undefined) =>
  exampleOf(content?.['application/json']?.schema ?? {}, document.components.schemas);

describe('the examples of the reference', () => {
  it('can be pasted: the one that prepares a creation is answered', async () => {
    const operation = document.paths['/svc-wallets/prepare-creation']?.post;
    const body = example(operation?.requestBody?.content) as BodyOf<typeof endpoints.prepareWalletCreation>;
    const answer = await prepareCreation(fixture, fixture.caller(), body);
    const current = walletClasses.find(({ walletType, current }) => walletType === 'SVC' && current);
    expect(answer.accountClassHash).toBe(toHex(current?.classHash ?? 0n));
    expect(example(operation?.responses['200']?.content)).toMatchObject({ accountClassHash: answer.accountClassHash });
  });

  it('show the configuration that the service has', async () => {
    const shown = example(document.paths['/config']?.get?.responses['200']?.content);
    const { getConfig } = configHandlers(fixture.networks);
    const real = (await getConfig({ caller: fixture.caller() } as never)) as object as Record<string, unknown>;
    const { network, chainId, walletClasses: known } = real;
    expect(shown).toMatchObject({ network, chainId, walletClasses: known });
  });
});
