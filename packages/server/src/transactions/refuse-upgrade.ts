import { ApiError, type StarknetAddress } from '@svc/protocol';
import { type Call, selector } from '@svc/starknet';

const UPGRADE = selector('upgrade');

/** A new class is the application's decision, by its secret key: it has endpoints of its own, which also check the class. */
export function refuseUpgrade(account: StarknetAddress, calls: readonly Call[]): void {
  const index = calls.findIndex(({ to, selector: called }) => called === UPGRADE && to === BigInt(account));
  if (index < 0) return;
  throw new ApiError(
    'invalid_request',
    `Call ${index} upgrades the wallet. Use /svc-wallets/prepare-upgrade and /svc-wallets/upgrade, with the secret key.`,
  );
}
