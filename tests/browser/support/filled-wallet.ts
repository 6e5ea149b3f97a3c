import type { CreatedWallet } from '@svc/sdk';
import type { Page } from 'playwright-core';
import { Sandbox } from '../../support/sandbox.ts';
import type { ServerAddress } from '../../support/server.ts';
import type { LibraryPage } from '../pages/sdk-page.ts';
import type { PageOptions } from './library-page.ts';

/** Global of the page: functions passed to `evaluate` run there. */
declare const sdk: LibraryPage['sdk'];

export interface WalletOwner {
  readonly options: PageOptions;
  readonly encryptKey: string;
  readonly externalUserId: string;
}

export async function newFilledWallet(server: ServerAddress, page: Page, owner: WalletOwner): Promise<CreatedWallet> {
  const wallet = await page.evaluate(async ({ options, encryptKey, externalUserId }) => {
    const svc = sdk.createSvc(options);
    const made = await svc.createWallet({ encryptKey, externalUserId, chain: 'STARKNET' });
    await svc.waitForTransaction(made.transactionHash, { retryIntervalMs: 100 });
    return made;
  }, owner);
  await new Sandbox(server).faucet(wallet.publicKey, 'USDC', '1000');
  return wallet;
}
