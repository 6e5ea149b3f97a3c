import { type Parsed, parseSolanaAddress, type SolanaAddress, solanaAddressBytes } from '@svc/protocol/values';
import { LEGACY_UDC_ADDRESS, shortString, UDC_ADDRESS } from '@svc/starknet';
import type { StateDiff } from '../execution/types.ts';
import { starknetToken, starknetTokens, type Token } from '../tokens.ts';
import {
  MESSAGE_TRANSMITTER_ADDRESS,
  messageTransmitter,
  SOLANA_DOMAIN,
  TOKEN_MESSENGER_ADDRESS,
  tokenMessenger,
  tokenMessengerStorage,
} from './cctp.ts';
import { toInteger, u256 } from './codec.ts';
import type { Contract } from './contract.ts';
import { erc20, erc20Storage } from './erc20.ts';
import { plainAccount, plainAccountKey } from './plain-account.ts';
import { type PredeployedAccount, predeployed } from './predeployed.ts';
import { readyAccount } from './ready-account.ts';
import {
  currentSvcAccount,
  svcAccountWithPolicies,
  svcAccountWithSessions,
  uncompiledSvcAccount,
  unrepairedSvcAccount,
} from './svc-account.ts';
import { TONGO_ADDRESS, tongo, tongoStorage } from './tongo.ts';
import { treasury } from './treasury.ts';
import { universalDeployer } from './universal-deployer.ts';

const SOLANA_TOKEN_MESSENGER = 'CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe';
/** Whole tokens: enough for tens of millions of transactions and every gift of a test run. */
const STARTING_STRK = 1_000_000n;
const STARTING_USDC = 100_000_000n;
const BURN_LIMIT = 10_000_000n;
/** An account of the private pool holds at most 4,294 USDC. */
const POOL_BITS = 32n;

class Draft {
  readonly diff: StateDiff = { storage: new Map(), nonces: new Map(), classHashes: new Map(), declared: new Set() };

  deploy(address: bigint, classHash: bigint): void {
    this.diff.classHashes.set(address, classHash);
    this.diff.storage.set(address, this.diff.storage.get(address) ?? new Map());
  }

  put(address: bigint, key: bigint, felts: readonly bigint[]): void {
    const cells = this.diff.storage.get(address);
    if (!cells) throw new Error('Storage of the first block belongs to a contract that it does not deploy.');
    for (const [offset, felt] of felts.entries()) if (felt !== 0n) cells.set(key + BigInt(offset), felt);
  }
}

function units(token: Token, whole: bigint): bigint {
  return whole * 10n ** BigInt(token.decimals);
}

function deployToken(draft: Draft, token: Token, minters: readonly bigint[], holders: ReadonlyMap<bigint, bigint>) {
  const { address } = token;
  draft.deploy(address, erc20.classHash);
  draft.put(address, erc20Storage.name.key, [shortString(token.name)]);
  draft.put(address, erc20Storage.symbol.key, [shortString(token.symbol)]);
  draft.put(address, erc20Storage.decimals.key, [BigInt(token.decimals)]);
  for (const minter of minters) draft.put(address, erc20Storage.minters.key(minter), [1n]);
  let supply = 0n;
  for (const [holder, amount] of holders) {
    draft.put(address, erc20Storage.balances.key(holder), u256.write(amount));
    supply += amount;
  }
  draft.put(address, erc20Storage.totalSupply.key, u256.write(supply));
}

function startingBalances(token: Token): Map<bigint, bigint> {
  const { relayers, manager, faucet } = predeployed;
  if (token.token === 'USDC') return new Map([[manager.address, units(token, STARTING_USDC)]]);
  if (token.token !== 'STRK') return new Map();
  return new Map([...relayers, manager, faucet].map(({ address }) => [address, units(token, STARTING_STRK)]));
}

function deployBridge(draft: Draft): void {
  const usdc = starknetToken('USDC');
  const { remoteTokenMessengers, burnLimits } = tokenMessengerStorage;
  const onSolana = toInteger(solanaAddressBytes(parsedOrThrow(parseSolanaAddress(SOLANA_TOKEN_MESSENGER))));
  draft.deploy(TOKEN_MESSENGER_ADDRESS, tokenMessenger.classHash);
  draft.put(TOKEN_MESSENGER_ADDRESS, remoteTokenMessengers.key(SOLANA_DOMAIN), u256.write(onSolana));
  draft.put(TOKEN_MESSENGER_ADDRESS, burnLimits.key(usdc.address), u256.write(units(usdc, BURN_LIMIT)));
  draft.deploy(MESSAGE_TRANSMITTER_ADDRESS, messageTransmitter.classHash);
}

function deployPrivatePool(draft: Draft): void {
  draft.deploy(TONGO_ADDRESS, tongo.classHash);
  draft.put(TONGO_ADDRESS, tongoStorage.owner.key, [predeployed.faucet.address]);
  draft.put(TONGO_ADDRESS, tongoStorage.erc20.key, [starknetToken('USDC').address]);
  draft.put(TONGO_ADDRESS, tongoStorage.rate.key, u256.write(1n));
  draft.put(TONGO_ADDRESS, tongoStorage.bitSize.key, [POOL_BITS]);
}

function parsedOrThrow(value: Parsed<SolanaAddress>): SolanaAddress {
  if (!value.ok) throw new Error('The Solana token messenger is no address.');
  return value.value;
}

function deployAccount(draft: Draft, { address, publicKey }: PredeployedAccount): void {
  draft.deploy(address, plainAccount.classHash);
  draft.put(address, plainAccountKey.key, [publicKey]);
}

export function genesis(): StateDiff {
  const draft = new Draft();
  const { sequencer, relayers, manager, faucet } = predeployed;
  for (const account of [sequencer, ...relayers, manager, faucet]) deployAccount(draft, account);
  for (const token of starknetTokens) {
    const minters = token.token === 'USDC' ? [faucet.address, TOKEN_MESSENGER_ADDRESS] : [faucet.address];
    deployToken(draft, token, minters, startingBalances(token));
  }
  draft.deploy(UDC_ADDRESS, universalDeployer.classHash);
  draft.deploy(LEGACY_UDC_ADDRESS, universalDeployer.classHash);
  deployBridge(draft);
  deployPrivatePool(draft);
  return draft.diff;
}

export const contracts: readonly Contract[] = [
  erc20,
  universalDeployer,
  plainAccount,
  currentSvcAccount,
  unrepairedSvcAccount,
  uncompiledSvcAccount,
  svcAccountWithPolicies,
  svcAccountWithSessions,
  readyAccount,
  treasury,
  tokenMessenger,
  messageTransmitter,
  tongo,
];

const byClassHash = new Map(contracts.map((contract) => [contract.classHash, contract]));

/** Undefined for declared classes: the sandbox stores them but cannot run them. */
export function contractOf(classHash: bigint): Contract | undefined {
  return byClassHash.get(classHash);
}
