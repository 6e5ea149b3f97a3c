import { ApiError, type Environment } from '@svc/protocol';
import type { Networks } from '../chains/networks.ts';
import { AttestationClient } from './attestation-client.ts';
import type { Bridge } from './bridge.ts';
import { burnCalls } from './burn-calls.ts';
import { type CctpPlaces, cctpPlaces } from './cctp.ts';
import { ceilingOf, type Fees, feeOf } from './fees.ts';
import type { Pace } from './pace.ts';
import { readProgress } from './read-progress.ts';

export interface CctpBridgeParts {
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  /** Where the attestation service of an environment is; undefined where there is none. */
  readonly url: (environment: Environment) => string | undefined;
  readonly pace?: Pace;
  readonly now?: () => number;
}

/** Fees move slowly, and hundreds of gifts may be made in a second. */
const FEES_KEPT_MS = 10_000;

/** Circle's CCTP, version 2, with its forwarding to Solana. */
export function createCctpBridge({ networks, url, pace, now = Date.now }: CctpBridgeParts): Bridge {
  const clients = new Map<string, AttestationClient>();
  const keptFees = new Map<AttestationClient, { readonly fees: Record<Speed, Fees>; readonly at: number }>();

  const clientOf = (environment: Environment): AttestationClient => {
    const place = url(environment) ?? withoutBridge();
    const client = clients.get(place) ?? new AttestationClient(place, pace);
    clients.set(place, client);
    return client;
  };
  const feesOf = async (environment: Environment, fast: boolean): Promise<Fees> => {
    const client = clientOf(environment);
    const kept = keptFees.get(client);
    const fees = kept && now() - kept.at < FEES_KEPT_MS ? kept.fees : await client.fees();
    if (fees !== kept?.fees) keptFees.set(client, { fees, at: now() });
    return fees[fast ? 'fast' : 'standard'];
  };
  const placesOf = (environment: Environment): { places: CctpPlaces; usdc: bigint } => {
    const usdc = networks.token(environment, 'STARKNET', 'USDC')?.address;
    if (!usdc) throw new Error('USDC has no contract on this Starknet.');
    return { places: cctpPlaces[networks.starknet(environment).name], usdc: BigInt(usdc) };
  };

  return {
    serves: (environment) => url(environment) !== undefined,
    feeCeiling: async (environment, amount, fast) => ceilingOf(await feesOf(environment, fast), amount),
    fee: async (environment, burned, fast) => feeOf(await feesOf(environment, fast), burned),
    burnCalls: (environment, order) => {
      const { places, usdc } = placesOf(environment);
      return burnCalls(places, usdc, order);
    },
    progress: async (environment, burn) => {
      const { places, usdc } = placesOf(environment);
      const messages = await clientOf(environment).messages(burn.hash);
      return readProgress(places, usdc, burn, messages ?? []);
    },
    reattest: (environment, nonce) => clientOf(environment).reattest(nonce),
  };
}

type Speed = 'fast' | 'standard';

function withoutBridge(): never {
  throw new ApiError('chain_not_configured', 'The bridge to Solana is not configured on this deployment.');
}
