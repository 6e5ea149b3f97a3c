import type { ChainToken, WalletType } from '@svc/protocol';
import {
  ADDRESS_BOUND,
  chainIds,
  liveBridge,
  liveTokens,
  parseFelt,
  readShortString,
  type SolanaBridge,
  shortString,
  toHex,
  walletClass,
} from '@svc/starknet';
import { SvcInputError, SvcTrustError } from './errors.ts';

/** A token that the app accepts beside the library's own. */
export interface TrustedToken {
  readonly token: ChainToken;
  readonly address: string;
  readonly decimals: number;
}

/** What the app accepts on live networks beside the library's own lists. Take it from your own configuration. */
export interface TrustOptions {
  /**
   * The only chain that is signed for, in hex or as text: `0x…` or `SN_SEPOLIA`. Needed for a network that is neither
   * mainnet nor Sepolia; the library has no list of tokens for it, so name them in `tokens`.
   */
  readonly chainId?: string | undefined;
  /** Account classes of your own. */
  readonly classHashes?: readonly string[] | undefined;
  readonly tokens?: readonly TrustedToken[] | undefined;
  /** The only address that purchases may pay, on every chain. Default: the one that the service names. */
  readonly paymentAddress?: string | undefined;
  /** The only pool of private balances, on every chain. Default: Tongo's on mainnet, the service's elsewhere. */
  readonly privatePool?: string | undefined;
  /** The bridge to Solana on a network of your own. */
  readonly bridge?: { readonly tokenMessenger: string; readonly usdcMint: string } | undefined;
}

export interface Token {
  readonly address: bigint;
  readonly decimals: number;
}

interface NamedToken extends Token {
  readonly token: ChainToken;
}

/** `TrustOptions` as numbers. */
export interface Trust {
  readonly chainId: bigint | undefined;
  readonly classHashes: readonly bigint[];
  readonly tokens: readonly NamedToken[];
  readonly paymentAddress: bigint | undefined;
  readonly privatePool: bigint | undefined;
  readonly bridge?: SolanaBridge | undefined;
}

export function readTrust(options: TrustOptions = {}): Trust {
  const { chainId, classHashes = [], tokens = [], paymentAddress, privatePool, bridge } = options;
  return {
    chainId: chainId === undefined ? undefined : readChainId(chainId),
    classHashes: classHashes.map((text) => readHash('trust.classHashes', text)),
    tokens: tokens.map(({ token, address, decimals }) => {
      if (!isDecimals(decimals)) refuseOptions('decimals in trust.tokens must be a whole number from 0 to 255');
      return { token, address: readHash('trust.tokens', address), decimals };
    }),
    paymentAddress: paymentAddress === undefined ? undefined : readHash('trust.paymentAddress', paymentAddress),
    privatePool: privatePool === undefined ? undefined : readHash('trust.privatePool', privatePool),
    bridge: bridge && { ...bridge, tokenMessenger: readHash('trust.bridge', bridge.tokenMessenger) },
  };
}

/** ERC-20 stores decimals in a byte. */
export const MAX_DECIMALS = 255;
export const isDecimals = (value: number) => Number.isInteger(value) && value >= 0 && value <= MAX_DECIMALS;

function readChainId(text: string): bigint {
  if (typeof text === 'string' && /^[A-Z0-9_]{1,31}$/.test(text)) return shortString(text);
  const value = typeof text === 'string' ? parseFelt(text) : undefined;
  if (value?.ok && value.value > 0n) return value.value;
  return refuseOptions('trust.chainId must be hexadecimal, or the text of a chain id such as SN_SEPOLIA');
}

function readHash(name: string, text: string): bigint {
  const value = typeof text === 'string' ? parseFelt(text) : undefined;
  if (value?.ok && value.value > 0n && value.value < ADDRESS_BOUND) return value.value;
  return refuseOptions(`${name} must be hexadecimal: 0x…`);
}

function refuseOptions(reason: string): never {
  throw new SvcInputError('invalid_options', `${reason}.`);
}

/** Real money, its test network, or the app's own network: there the service's word is not enough. */
export const isLive = (trust: Trust, chainId: bigint) =>
  chainId === chainIds.SN_MAIN || chainId === chainIds.SN_SEPOLIA || chainId === trust.chainId;

export interface ClassToTrust {
  readonly chainId: bigint;
  readonly classHash: bigint;
  readonly walletType: WalletType;
  /** An upgrade to an earlier class would drop spending limits. */
  readonly isUpgrade: boolean;
}

export function requireTrustedClass(trust: Trust, { chainId, classHash, walletType, isUpgrade }: ClassToTrust): void {
  if (!isLive(trust, chainId) || trust.classHashes.includes(classHash)) return;
  const known = walletClass(classHash);
  if (known?.walletType === walletType && (known.current || !isUpgrade)) return;
  const use = isUpgrade ? 'to upgrade to' : `for ${walletType} wallets`;
  refuse('untrusted_class', `${toHex(classHash)} is not an account class ${use}`, chainId, 'trust.classHashes');
}

export interface TokenToTrust extends NamedToken {
  readonly chainId: bigint;
  /** Address and decimals are the app's. */
  readonly isOwn: boolean;
}

export function requireTrustedToken(trust: Trust, { chainId, token, address, decimals, isOwn }: TokenToTrust): void {
  if (!isLive(trust, chainId)) return;
  const accepted = (liveTokens(chainId) ?? [])
    .map<NamedToken>(([name, text, digits]) => ({ token: name, address: BigInt(text), decimals: digits }))
    .concat(trust.tokens)
    .filter((one) => (token === 'OTHER' ? one.address === address : one.token === token));
  if (accepted.some((one) => one.address === address && one.decimals === decimals)) return;
  if (accepted.length === 0 && token === 'OTHER' && isOwn) return;
  const name = token === 'OTHER' ? 'that token' : token;
  const reason = `${toHex(address)} with ${decimals} decimals is not ${name}`;
  refuse('untrusted_token', reason, chainId, 'trust.tokens');
}

export interface BridgeToTrust {
  readonly chainId: bigint;
  readonly tokenMessenger: bigint;
  readonly usdcMint: string;
}

/** The contract that burns, and the USDC that is minted: another one would take the money. */
export function requireTrustedBridge(trust: Trust, { chainId, tokenMessenger, usdcMint }: BridgeToTrust): void {
  if (!isLive(trust, chainId)) return;
  const known = liveBridge(chainId) ?? trust.bridge;
  if (known && known.tokenMessenger === tokenMessenger && known.usdcMint === usdcMint) return;
  const reason = `${toHex(tokenMessenger)} for ${usdcMint} is not the bridge to Solana`;
  refuse('untrusted_bridge', reason, chainId, 'trust.bridge');
}

export function requireTrustedPayment({ paymentAddress }: Trust, recipient: bigint): void {
  if (paymentAddress === undefined || paymentAddress === recipient) return;
  throw new SvcTrustError(
    'untrusted_payment_address',
    `The service wants payments at ${toHex(recipient)}, which is not trust.paymentAddress. Nothing was signed.`,
  );
}

/** Tongo for USDC. */
const MAINNET_POOL = 0x0415f2c3b16cc43856a0434ed151888a5797b6a22492ea6fd41c62dbb4df4e6cn;

export function requireTrustedPool(trust: Trust, chainId: bigint, pool: bigint): void {
  const known = trust.privatePool ?? (chainId === chainIds.SN_MAIN ? MAINNET_POOL : undefined);
  if (pool === known || (known === undefined && !isLive(trust, chainId))) return;
  refuse('untrusted_pool', `${toHex(pool)} is not a pool of private balances`, chainId, 'trust.privatePool');
}

function refuse(code: SvcTrustError['code'], reason: string, chainId: bigint, option: string): never {
  const chain = readShortString(chainId);
  const advice = `If your app accepts it, name it in ${option}.`;
  throw new SvcTrustError(code, `${reason} on ${chain} as this library knows it. Nothing was signed. ${advice}`);
}
