import { ApiError, type Environment } from '@svc/protocol';
import { type Call, encodeByteArray, encodeU256, selector, toHex } from '@svc/starknet';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import {
  AttestationClient,
  type BridgeMessage,
  ceilingOf,
  type Fees,
  feeOf,
  type Throttle,
} from './attestation-client.ts';
import { type Bridge, type BridgeProgress, type Burn, type BurnOrder, tokenAccountOf } from './bridge.ts';
import {
  type CctpPlaces,
  cctpPlaces,
  decodeMessage,
  forwardHook,
  readHex,
  SOLANA_DOMAIN,
  thresholdOf,
  toHexText,
  toInteger,
  wrongField,
} from './cctp-message.ts';
import type { SolanaNodes } from './solana-node.ts';

export interface CctpBridgeDeps {
  readonly networks: Pick<Networks, 'starknet' | 'token'>;
  readonly url: (environment: Environment) => string | undefined;
  /** Undefined: the bridge's word is not checked. */
  readonly solana?: (environment: Environment) => Pick<SolanaNodes, 'checkMint'> | undefined;
  readonly throttle?: Throttle;
  readonly now?: () => number;
}

/** Fees change slowly, and hundreds of gifts may be created in a second. */
const FEES_CACHE_MS = 10_000;

export function createCctpBridge({ networks, url, solana, throttle, now = Date.now }: CctpBridgeDeps): Bridge {
  const clients = new Map<string, AttestationClient>();
  const cachedFees = new Map<AttestationClient, { readonly fees: Record<Speed, Fees>; readonly at: number }>();

  const clientOf = (environment: Environment): AttestationClient => {
    const place = url(environment) ?? withoutBridge();
    const client = clients.get(place) ?? new AttestationClient(place, throttle);
    clients.set(place, client);
    return client;
  };
  const feesOf = async (environment: Environment, fast: boolean): Promise<Fees> => {
    const client = clientOf(environment);
    const cached = cachedFees.get(client);
    const fees = cached && now() - cached.at < FEES_CACHE_MS ? cached.fees : await client.fees();
    if (fees !== cached?.fees) cachedFees.set(client, { fees, at: now() });
    return fees[fast ? 'fast' : 'standard'];
  };
  const placesOf = (environment: Environment): { places: CctpPlaces; usdc: bigint } => {
    const usdc = networks.token(environment, 'STARKNET', 'USDC')?.address;
    if (!usdc) throw new Error('USDC has no contract on this Starknet.');
    return { places: placesOn(networks.starknet(environment)), usdc: BigInt(usdc) };
  };

  return {
    usdcMint: (environment) => placesOf(environment).places.usdcMint,
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
    checkMint: async (environment, mint) =>
      solana?.(environment)?.checkMint({ ...mint, mint: placesOf(environment).places.usdcMint }),
  };
}

type Speed = 'fast' | 'standard';

export function placesOn({ name, bridge }: Pick<StarknetNetwork, 'name' | 'bridge'>): CctpPlaces {
  return bridge ?? Object.entries(cctpPlaces).find(([known]) => known === name)?.[1] ?? withoutBridge();
}

function withoutBridge(): never {
  throw new ApiError('chain_not_configured', 'The bridge to Solana is not configured on this deployment.');
}

/** Any caller may submit the message on Solana; it mints for its recipient only. */
const ANY_CALLER = 0n;

export function burnCalls(places: CctpPlaces, usdc: bigint, { amount, maxFee, owner, fast }: BurnOrder): Call[] {
  if (amount <= maxFee) throw new RangeError('A burn must be larger than the fee that it allows.');
  const { tokenMessenger, usdcMint } = places;
  const recipient = toInteger(tokenAccountOf(owner, usdcMint));
  return [
    { to: usdc, selector: selector('approve'), calldata: [tokenMessenger, ...encodeU256(amount)] },
    {
      to: tokenMessenger,
      selector: selector('deposit_for_burn_with_hook'),
      calldata: [
        ...encodeU256(amount),
        SOLANA_DOMAIN,
        ...encodeU256(recipient),
        usdc,
        ...encodeU256(ANY_CALLER),
        ...encodeU256(maxFee),
        thresholdOf(fast),
        ...encodeByteArray(forwardHook(owner)),
      ],
    },
  ];
}

/** Ours have 441 bytes; headers may grow. */
const MAX_MESSAGE_BYTES = 2_048;
const MAX_ATTESTATION_BYTES = 2_048;
const NONCE_START = 12;
const NONCE_END = 44;

/** One message is expected: our transactions burn once. */
export function readProgress(
  places: CctpPlaces,
  usdc: bigint,
  burn: Burn,
  messages: readonly BridgeMessage[],
): BridgeProgress {
  const [first, ...others] = messages;
  if (!first) return { state: 'UNSEEN' };
  if (others.length > 0) return { state: 'WRONG', reason: 'The bridge shows several messages for one burn.' };
  if (!first.complete) return { state: 'PENDING' };
  const bytes = readHex(first.message, MAX_MESSAGE_BYTES);
  const message = bytes && decodeMessage(bytes);
  if (!bytes || !message) return { state: 'WRONG', reason: 'The attested message cannot be read.' };
  const wrong = wrongField(places, usdc, burn, message);
  if (wrong !== undefined) {
    return { state: 'WRONG', reason: `The attested message does not say what was burned: ${wrong} differs.` };
  }
  const attestation = readHex(first.attestation, MAX_ATTESTATION_BYTES);
  if (!attestation?.length) return { state: 'WRONG', reason: 'The attestation cannot be read.' };
  return {
    state: 'ATTESTED',
    nonce: toHexText(bytes.subarray(NONCE_START, NONCE_END)),
    message: toHexText(bytes),
    attestation: toHexText(attestation),
    feeExecuted: message.feeExecuted,
    forwardState: first.forwardState,
    receiveHash: first.forwardTxHash,
  };
}

export class WrongBridgeError extends Error {
  override readonly name = 'WrongBridgeError';
}

export async function checkBridgeContracts(network: Pick<StarknetNetwork, 'name' | 'chain' | 'bridge'>): Promise<void> {
  const { name, chain } = network;
  const { tokenMessenger, messageTransmitter } = placesOn(network);
  for (const address of [tokenMessenger, messageTransmitter]) {
    if ((await chain.classHashAt(address)) !== undefined) continue;
    throw new WrongBridgeError(
      `The bridge's contract ${toHex(address)} does not exist on ${name}. Set BRIDGE=off to start without it.`,
    );
  }
}
