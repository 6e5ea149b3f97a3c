import {
  type AnswerOf,
  ApiError,
  type BodyOf,
  type Environment,
  type endpoints,
  type StarknetAddress,
} from '@svc/protocol';
import { type Call, outsideExecutionTypedData, selector, toHex } from '@svc/starknet';
import { currentTenant, type Database } from '@svc/store';
import type { Networks, StarknetNetwork } from '../chains/networks.ts';
import { addressOf } from '../chains/starknet/chain.ts';
import type { Caller } from '../http/call.ts';
import { readAddress, readClassHash } from '../http/validation.ts';
import { enqueue, type JobHandlers, type JobLog, type NewJob } from '../jobs/job.ts';
import type { OutcomeHandler } from '../relayer/outcome.ts';
import { readSignedExecution, type WalletDeps } from './signed-execution.ts';
import * as store from './wallet.ts';
import { findWallet, type StoredWallet, type WalletRecord } from './wallet.ts';
import { currentClass, requireSponsoredClass, requireUpgradeTarget, typeOfClass } from './wallet-class.ts';

type Prepare = typeof endpoints.prepareWalletUpgrade;
type Execute = typeof endpoints.executeWalletUpgrade;

interface DeployedWallet {
  readonly network: StarknetNetwork;
  readonly wallet: WalletRecord;
  /** From the chain: the wallet may have been upgraded without us. */
  readonly current: bigint;
}

export async function prepareUpgrade(
  deps: WalletDeps,
  caller: Caller,
  body: BodyOf<Prepare>,
): Promise<AnswerOf<Prepare>> {
  const requested =
    body.targetClassHash === undefined ? undefined : readClassHash(body.targetClassHash, 'body.targetClassHash');
  const { network, wallet, current } = await requireDeployed(deps, caller, body.walletAddress);
  const target = requested ?? currentClass(network, 'SVC');
  if (target === current) {
    throw new ApiError('class_not_allowed', `The wallet has the class ${toHex(target)} already.`);
  }
  await requireUpgradeTarget(network, current, target);
  await requireSponsoredClass(deps.db.reads, caller, network, current, target);
  const account = BigInt(wallet.address);
  const calls = [upgradeCall(network, account, current, target)];
  const execution = await deps.sponsor.prepare({
    environment: caller.environment,
    account,
    deployment: undefined,
    calls,
  });
  return {
    typedData: { ...outsideExecutionTypedData(execution, network.chain.chainId) },
    currentClassHash: toHex(current),
    targetClassHash: toHex(target),
    currentWalletType: typeOfClass(network, current),
    targetWalletType: typeOfClass(network, target),
  };
}

export async function executeUpgrade(
  deps: WalletDeps,
  caller: Caller,
  body: BodyOf<Execute>,
): Promise<AnswerOf<Execute>> {
  const deployed = await requireDeployed(deps, caller, body.walletAddress);
  const { network, wallet, current } = deployed;
  const { typedData, signature: text } = body;
  const signed = await readSignedExecution(deps, wallet, { typedData, signature: text, field: 'body.signature' });
  if (signed.isSession) {
    throw new ApiError(
      'invalid_signature',
      "Only the wallet's owner can upgrade it: sign with the owner's key, [r, s].",
    );
  }
  const target = readUpgrade(deployed, signed.execution.calls);
  // A repetition after the upgrade: the sponsor answers the first transaction.
  if (target !== current) await requireUpgradeTarget(network, current, target);
  await requireSponsoredClass(deps.db.reads, caller, network, current, target);
  const { execution, signature, messageHash } = signed;
  const account = BigInt(wallet.address);
  const { environment } = caller;
  const sponsorship = { kind: 'upgrade', environment, account, deployment: undefined, user: wallet } as const;
  const { hash } = await deps.sponsor.sponsor({ ...sponsorship, execution, signature, messageHash }, async () => {});
  return { transactionHash: toHex(hash), newClassHash: toHex(target), newWalletType: typeOfClass(network, target) };
}

async function requireDeployed({ db, networks }: WalletDeps, caller: Caller, text: string): Promise<DeployedWallet> {
  const address = readAddress(text, 'body.walletAddress');
  const network = networks.starknet(caller.environment);
  const wallet = await findWallet(db.reads, caller, address);
  if (!wallet) throw new ApiError('wallet_not_found', 'Your organisation has no wallet with this walletAddress.');
  const current = await network.chain.classHashAt(BigInt(address), 'pre_confirmed');
  if (current === undefined) throw notDeployed(wallet);
  return { network, wallet, current };
}

function notDeployed({ address, deployment }: StoredWallet): ApiError {
  const advice = deployment === 'FAILED' ? 'The deployment failed; create the wallet again.' : undefined;
  return new ApiError('wallet_not_deployed', advice && `${address} is not deployed. ${advice}`);
}

/** `READY` takes class and data, `SVC` the class only. */
function upgradeCall(network: StarknetNetwork, account: bigint, current: bigint, target: bigint): Call {
  const calldata = typeOfClass(network, current) === 'READY' ? [target, 0n] : [target];
  return { to: account, selector: selector('upgrade'), calldata };
}

/** The calls must equal the prepared ones: earlier classes skip unknown calls, and the transaction would look successful. */
function readUpgrade({ network, wallet, current }: DeployedWallet, calls: readonly Call[]): bigint {
  const [call, ...more] = calls;
  const [target = 0n] = call?.calldata ?? [];
  const account = BigInt(wallet.address);
  const spellings = target === current ? network.walletClasses.map(({ classHash }) => classHash) : [current];
  const expected = spellings.map((from) => upgradeCall(network, account, from, target));
  if (call && more.length === 0 && target !== 0n && expected.some((one) => isSameCall(one, call))) return target;
  throw new ApiError(
    'invalid_typed_data',
    'The typed data of an upgrade has one call, which upgrades the wallet itself. Send it as it was prepared.',
  );
}

function isSameCall(one: Call, other: Call): boolean {
  const felts = ({ to, selector: name, calldata }: Call) => [to, name, ...calldata].join();
  return felts(one) === felts(other);
}

export interface UpgradedWallet {
  readonly environment: Environment;
  readonly address: StarknetAddress;
  /** A node behind this block is not believed. */
  readonly blockNumber: number;
  readonly looks?: number;
}

const CONFIRM_UPGRADE_TASK = 'confirm-upgrade';

function confirmUpgradeJob(payload: UpgradedWallet, organizationId = currentTenant()): NewJob {
  const key = `${payload.environment} ${payload.address}`;
  return { task: CONFIRM_UPGRADE_TASK, payload, key, tenant: organizationId };
}

/** Earlier classes skip failing calls, so the class is read from the chain. */
export const upgradeOutcome: OutcomeHandler = async (tx, { environment, account, receipt }) => {
  const address = addressOf(account);
  const organizationId = await store.organizationOf(tx, { environment, address });
  const upgraded = { environment, address, blockNumber: receipt?.blockNumber ?? 0 };
  await enqueue(tx, confirmUpgradeJob(upgraded, organizationId));
};

export interface ConfirmUpgradeDeps {
  readonly db: Database;
  readonly networks: Pick<Networks, 'starknet'>;
  readonly log: JobLog;
  readonly now?: () => number;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

/** Stores the class that the chain shows after an upgrade or its reorganisation. Retries without limit until a node can tell. */
export async function confirmUpgrade(deps: ConfirmUpgradeDeps, upgraded: UpgradedWallet): Promise<void> {
  const { db, log, now = Date.now } = deps;
  const { environment, address, blockNumber, looks = 0 } = upgraded;
  const about = { environment, address, blockNumber, retries: looks };
  const found = await readClass(deps, upgraded).catch((error: unknown) => {
    log.warn({ ...about, err: error }, 'class of an upgraded wallet not readable, retrying');
    return 'unreadable' as const;
  });
  if (found === 'not deployed') return;
  if (typeof found === 'object') return void (await store.setClass(db, { environment, address, ...found }));
  if (found === 'no block') log.info(about, 'no node has the block of the upgrade yet, retrying');
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** looks, MAX_RETRY_MS);
  const job = confirmUpgradeJob({ ...upgraded, looks: looks + 1 });
  await enqueue(db, { ...job, runAt: new Date(now() + delayMs) });
}

async function readClass({ networks }: ConfirmUpgradeDeps, { environment, address, blockNumber }: UpgradedWallet) {
  const network = networks.starknet(environment);
  if ((await network.chain.blockNumber()) < blockNumber) return 'no block';
  const classHash = await network.chain.classHashAt(BigInt(address));
  return classHash === undefined ? 'not deployed' : { classHash, walletType: typeOfClass(network, classHash) };
}

export function walletJobs(deps: ConfirmUpgradeDeps): JobHandlers {
  return { [CONFIRM_UPGRADE_TASK]: (upgraded: UpgradedWallet) => confirmUpgrade(deps, upgraded) };
}
