import type { ChainToken, StarknetAddress } from '@svc/protocol';
import { ChainUnavailableError } from './node-fetch.ts';
import { addressOf, type StarknetChain } from './starknet/chain.ts';
import type { Token } from './tokens.ts';

/** What an operation has to keep besides its proof. */
export interface PoolTerms {
  /** In FRI, of each operation; all shields of a transaction pay once. */
  readonly fee: bigint;
  readonly shieldPaused: boolean;
  /** An account's next operation waits for this many blocks and one more. */
  readonly lagBlocks: number;
}

export interface PoolPlace {
  readonly address: StarknetAddress;
  readonly token: ChainToken;
}

/** Of a live network. Tongo's contract asks nothing, so the service asks when it relays. */
export interface PoolSettings extends PoolPlace {
  readonly terms: PoolTerms;
  /** False: a paymaster pays for gas alone, so wallets pay the fee. */
  readonly isSponsored: boolean;
}

export interface PrivatePool {
  readonly address: StarknetAddress;
  readonly token: ChainToken;
  readonly tokenAddress: string;
  /** The call of the STRK contract, among those that the wallet signs, that pays the fee. Null: none is needed. */
  readonly feePayment: { readonly entrypoint: 'approve' | 'transfer'; readonly to: StarknetAddress } | null;
  /** To whom the sponsor sends the fee beside the execution: its recipient, or a wallet that pays it on. */
  sponsorPays(wallet: StarknetAddress): StarknetAddress | undefined;
  /** Whether the contract refuses by itself what does not keep the terms. */
  readonly isStrict: boolean;
  /** Undefined: the contract is not there. */
  terms(): Promise<PoolTerms | undefined>;
}

/** Tongo for USDC on mainnet; the sandbox has its pool at the same address. */
export const TONGO_USDC = addressOf(0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6cn);
export const mainnetPool: PoolPlace = { address: TONGO_USDC, token: 'USDC' };

export function livePool(
  { address, token, terms, isSponsored }: PoolSettings,
  tokens: readonly Token[],
  paymentAddress: StarknetAddress,
): PrivatePool {
  const tokenAddress = addressOfToken(tokens, token);
  return {
    address,
    token,
    tokenAddress,
    feePayment: isSponsored ? null : { entrypoint: 'transfer', to: paymentAddress },
    sponsorPays: () => (isSponsored ? paymentAddress : undefined),
    isStrict: false,
    terms: async () => terms,
  };
}

/** The contract has the terms, which `POST /sandbox/starknet/pool` sets. */
export function sandboxPool(chain: Pick<StarknetChain, 'call'>, tokens: readonly Token[]): PrivatePool {
  const { address, token } = mainnetPool;
  return {
    address,
    token,
    tokenAddress: addressOfToken(tokens, token),
    feePayment: { entrypoint: 'approve', to: address },
    sponsorPays: (wallet) => wallet,
    isStrict: true,
    terms: async () => {
      const answer = await chain.call({ to: BigInt(address), entrypoint: 'get_terms' }, 'pre_confirmed');
      // A sandbox that was made before the pool.
      if (!answer.ok) return undefined;
      const [low = 0n, high = 0n, paused = 0n, lag = 0n] = answer.felts;
      return { fee: low + (high << 128n), shieldPaused: paused !== 0n, lagBlocks: Number(lag) };
    },
  };
}

function addressOfToken(tokens: readonly Token[], name: ChainToken): string {
  const address = tokens.find(({ token }) => token === name)?.address;
  if (!address) throw new Error(`The network has no ${name} for its pool.`);
  return address;
}

/** As `GET /config` shows it; null where there is none, or where its terms cannot be read. */
export async function describePool(pool: PrivatePool | undefined) {
  if (!pool) return null;
  const { address, token, tokenAddress, feePayment } = pool;
  try {
    const terms = await pool.terms();
    if (!terms) return null;
    const { fee, shieldPaused, lagBlocks } = terms;
    return { pool: address, token, tokenAddress, fee: String(fee), feePayment, shieldPaused, lagBlocks };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return null;
    throw error;
  }
}

/** What of the contract differs from what svc takes it to be. */
export async function findPoolFault(
  chain: Pick<StarknetChain, 'call'>,
  { address, token, tokenAddress }: PrivatePool,
): Promise<string | undefined> {
  const to = BigInt(address);
  const [erc20, rate] = await Promise.all(['ERC20', 'get_rate'].map((entrypoint) => chain.call({ to, entrypoint })));
  if (!erc20?.ok || !rate?.ok) return `${address} is no pool of Tongo`;
  if (erc20.felts[0] !== BigInt(tokenAddress)) return `${address} does not wrap ${token}`;
  const [low = 0n, high = 0n] = rate.felts;
  return low === 1n && high === 0n ? undefined : `${address} does not wrap ${token} one to one`;
}
