import type {
  AnswerOf,
  BodyOf,
  endpoints,
  ProposalState,
  Treasury,
  TreasuryPolicy,
  TreasuryProposal,
} from '@svc/protocol';
import { starkKey, toHex } from '@svc/starknet';
import type { Client } from './client/client.ts';
import { SvcKeyError } from './client/errors.ts';
import { type CursorList, type CursorParams, eachByCursor, type PageOptions, toCursorList } from './client/pages.ts';
import { request } from './client/request.ts';
import { readAddress, type SvcWallet } from './client/values.ts';
import { openWalletKey } from './keys/seal.ts';
import { type ContractCall, signExecution, toCalls } from './signing/calls.ts';
import { chainIdOf, checkTypedData, signingTime } from './signing/check.ts';

export type CreateTreasuryParams = Readonly<BodyOf<typeof endpoints.createTreasury>> & {
  /** Repeated with the same key, the same treasury is answered. Default: a new one. */
  readonly idempotencyKey?: string | undefined;
};

/**
 * Creates an account on Starknet whose payments `threshold` of its signers approve. Public keys are Stark keys, such as
 * `starkPublicKey` derives from a wallet. Server only: needs the secret key.
 *
 * @example
 * const signers = [{ name: 'Ana', publicKey: signerKey }];
 * const { id, address } = await svc.treasuries.createTreasury({ name: 'Caja', signers, threshold: 1 });
 */
export function createTreasury(client: Client, params: CreateTreasuryParams): Promise<Treasury> {
  const { name, signers, threshold, limits, idempotencyKey } = params;
  return request<typeof endpoints.createTreasury>(client, {
    route: 'POST /treasuries',
    access: 'secret',
    body: { name, signers, threshold, limits },
    idempotencyKey,
  });
}

/**
 * Reads treasuries of your environment, newest first. `treasuries` iterates over all of them. Server only: needs the
 * secret key.
 *
 * @example
 * const { items } = await svc.treasuries.listTreasuries();
 */
export async function listTreasuries(client: Client, params: CursorParams = {}): Promise<CursorList<Treasury>> {
  return toCursorList(await readTreasuries(client, params));
}

/**
 * Iterates over the treasuries of your environment, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { name, address } of svc.treasuries.treasuries()) console.log(name, address);
 */
export function treasuries(client: Client, params: PageOptions = {}): AsyncGenerator<Treasury, void, undefined> {
  return eachByCursor((query) => readTreasuries(client, query), params);
}

const readTreasuries = (client: Client, { limit, cursor }: CursorParams) =>
  request<typeof endpoints.listTreasuries>(client, {
    route: 'GET /treasuries',
    access: 'secret',
    query: { limit, cursor },
  });

export interface TreasuryIdParams {
  readonly id: string;
}

/**
 * Reads a treasury with its signers. Server only: needs the secret key.
 *
 * @example
 * const { threshold, isDeployed } = await svc.treasuries.getTreasury({ id: treasury.id });
 */
export function getTreasury(client: Client, { id }: TreasuryIdParams): Promise<Treasury> {
  return request<typeof endpoints.getTreasury>(client, {
    route: 'GET /treasuries/{id}',
    access: 'secret',
    params: { id },
  });
}

/**
 * Reads who signs, how many are needed, and the limits. Server only: needs the secret key.
 *
 * @example
 * const { signers, threshold, limits } = await svc.treasuries.getTreasuryPolicy({ id: treasury.id });
 */
export function getTreasuryPolicy(client: Client, { id }: TreasuryIdParams): Promise<TreasuryPolicy> {
  return request<typeof endpoints.getTreasuryPolicy>(client, {
    route: 'GET /treasuries/{id}/policy',
    access: 'secret',
    params: { id },
  });
}

export type ChangeTreasuryPolicyParams = TreasuryIdParams & Readonly<BodyOf<typeof endpoints.changeTreasuryPolicy>>;

/**
 * Proposes other signers, another threshold or other limits. The current signers approve the answer like a payment.
 * Server only: needs the secret key.
 *
 * @example
 * const limits = [{ token: 'USDC', threshold: 1, amount: '500', windowSeconds: 86_400 }];
 * const change = await svc.treasuries.changeTreasuryPolicy({ id: sharedTreasury.id, limits });
 */
export function changeTreasuryPolicy(client: Client, params: ChangeTreasuryPolicyParams): Promise<TreasuryProposal> {
  const { id, signers, threshold, limits, description, expiresAt } = params;
  return request<typeof endpoints.changeTreasuryPolicy>(client, {
    route: 'PATCH /treasuries/{id}/policy',
    access: 'secret',
    params: { id },
    body: { signers, threshold, limits, description, expiresAt },
  });
}

export type CreateTreasuryProposalParams = Readonly<Omit<BodyOf<typeof endpoints.createTreasuryProposal>, 'calls'>> & {
  readonly treasuryId: string;
  readonly calls?: readonly ContractCall[] | undefined;
  readonly idempotencyKey?: string | undefined;
};

/**
 * Proposes transfers, or calls of any contract. Signers sign the answer's `typedData` with `signTreasuryProposal`. Server
 * only: needs the secret key.
 *
 * @example
 * const transfers = [{ token: 'USDC', recipient, amount: '250' }];
 * const { id } = await svc.treasuries.createTreasuryProposal({ treasuryId: treasury.id, transfers });
 */
export function createTreasuryProposal(
  client: Client,
  params: CreateTreasuryProposalParams,
): Promise<TreasuryProposal> {
  const { treasuryId, transfers, calls, description, expiresAt, replaces, idempotencyKey } = params;
  const wireCalls = calls && toCalls(calls).map(toWire);
  return request<typeof endpoints.createTreasuryProposal>(client, {
    route: 'POST /treasuries/{id}/transactions',
    access: 'secret',
    params: { id: treasuryId },
    body: { transfers, calls: wireCalls, description, expiresAt, replaces },
    idempotencyKey,
  });
}

const toWire = ({ to, selector, calldata }: ReturnType<typeof toCalls>[number]) => ({
  contractAddress: toHex(to),
  entrypoint: toHex(selector),
  calldata: calldata.map(toHex),
});

export interface ProposalFilters {
  readonly treasuryId: string;
  readonly state?: ProposalState | undefined;
}
export interface ListTreasuryProposalsParams extends ProposalFilters, CursorParams {}
export interface TreasuryProposalsParams extends ProposalFilters, PageOptions {}

/**
 * Reads proposals of a treasury, newest first. `treasuryProposals` iterates over all of them. Server only: needs the
 * secret key.
 *
 * @example
 * const { items } = await svc.treasuries.listTreasuryProposals({ treasuryId: treasury.id, state: 'PENDING' });
 */
export async function listTreasuryProposals(
  client: Client,
  params: ListTreasuryProposalsParams,
): Promise<CursorList<TreasuryProposal>> {
  return toCursorList(await readProposals(client, params));
}

/**
 * Iterates over the proposals of a treasury, newest first. Server only: needs the secret key.
 *
 * @example
 * for await (const { id, state } of svc.treasuries.treasuryProposals({ treasuryId: treasury.id })) console.log(id, state);
 */
export function treasuryProposals(
  client: Client,
  params: TreasuryProposalsParams,
): AsyncGenerator<TreasuryProposal, void, undefined> {
  return eachByCursor((query) => readProposals(client, { ...params, ...query }), params);
}

function readProposals(
  client: Client,
  params: ListTreasuryProposalsParams,
): Promise<AnswerOf<typeof endpoints.listTreasuryProposals>> {
  const { treasuryId, state, limit, cursor } = params;
  return request<typeof endpoints.listTreasuryProposals>(client, {
    route: 'GET /treasuries/{id}/transactions',
    access: 'secret',
    params: { id: treasuryId },
    query: { state, limit, cursor },
  });
}

export interface ProposalPlaceParams {
  readonly treasuryId: string;
  readonly proposalId: string;
}

/**
 * Reads a proposal with the typed data to sign. The public key is enough.
 *
 * @example
 * const { state, signatures } = await svc.treasuries.getTreasuryProposal({ treasuryId: treasury.id, proposalId: proposal.id });
 */
export function getTreasuryProposal(
  client: Client,
  { treasuryId, proposalId }: ProposalPlaceParams,
): Promise<TreasuryProposal> {
  return request<typeof endpoints.getTreasuryProposal>(client, {
    route: 'GET /treasuries/{id}/transactions/{proposalId}',
    access: 'public',
    params: { id: treasuryId, proposalId },
  });
}

/** A wallet's owner key, opened by PIN or passkey, or a key of your own. */
export type TreasurySigningKey =
  | { readonly wallet: SvcWallet; readonly encryptKey: string }
  | { readonly privateKey: string };

export type SignTreasuryProposalParams = TreasurySigningKey & {
  /** Of the treasury, as the signer knows it: the signature is good for no other account. */
  readonly treasuryAddress: string;
  readonly proposal: Pick<TreasuryProposal, 'id' | 'treasuryId' | 'typedData'>;
  /** What the signer was shown and approves. */
  readonly calls: readonly ContractCall[];
};

export interface SignedTreasuryProposal {
  readonly publicKey: string;
  readonly signature: readonly [r: string, s: string];
}

/** A proposal lives at most 30 days. */
const MAX_WINDOW_SECONDS = 31n * 86_400n;

/**
 * Verifies that a proposal's typed data is exactly the calls that were shown, for this chain and within its time, and
 * only then opens the key and signs. Nothing is sent: `signTreasuryProposal` also sends it.
 *
 * @throws SvcTypedDataError with code `typed_data_mismatch` if the typed data is anything else
 * @example
 * const signed = await svc.treasuries.signProposalOffline({ treasuryAddress: treasury.address, proposal, calls: proposal.calls, privateKey: signerPrivateKey });
 */
export async function signProposalOffline(
  client: Client,
  params: SignTreasuryProposalParams,
): Promise<SignedTreasuryProposal> {
  const { treasuryAddress, proposal } = params;
  const account = readAddress(treasuryAddress, 'treasuryAddress');
  const calls = toCalls(params.calls);
  const chainId = await chainIdOf(client);
  const nowSeconds = await signingTime(client, chainId);
  const expected = { account, chainId, calls, nowSeconds, maxWindowSeconds: MAX_WINDOW_SECONDS };
  const execution = checkTypedData(proposal.typedData, expected);
  const privateKey = await openSigningKey(params);
  const { r, s } = signExecution(execution, { account, chainId, privateKey });
  return { publicKey: toHex(starkKey(privateKey)), signature: [r, s] };
}

async function openSigningKey(key: TreasurySigningKey): Promise<bigint> {
  if ('wallet' in key) return openWalletKey(key);
  if (/^0x[0-9a-fA-F]{1,64}$/.test(key.privateKey)) return BigInt(key.privateKey);
  throw new SvcKeyError('wrong_key', 'This is not a private key of the Stark curve.');
}

/**
 * Signs a proposal as one of the treasury's signers and sends the signature. The typed data is verified against the calls
 * that were shown before the key is opened. The public key is enough to send it.
 *
 * @throws SvcTypedDataError with code `typed_data_mismatch` if the typed data is anything else
 * @example
 * const { state } = await svc.treasuries.signTreasuryProposal({ treasuryAddress: treasury.address, proposal, calls: proposal.calls, privateKey: signerPrivateKey });
 */
export async function signTreasuryProposal(
  client: Client,
  params: SignTreasuryProposalParams,
): Promise<TreasuryProposal> {
  const { publicKey, signature } = await signProposalOffline(client, params);
  const { id, treasuryId } = params.proposal;
  return request<typeof endpoints.signTreasuryProposal>(client, {
    route: 'POST /treasuries/{id}/transactions/{proposalId}/sign',
    access: 'public',
    params: { id: treasuryId, proposalId: id },
    body: { publicKey, signature: [...signature] },
  });
}

/**
 * Executes a proposal that has enough signatures, without gas. Repeated, it answers the same transaction. Wait for
 * `transactionHash`, or for `executedTxHash` of the event. Server only: needs the secret key.
 *
 * @example
 * const { transactionHash } = await svc.treasuries.executeTreasuryProposal({ treasuryId: treasury.id, proposalId: readyProposal.id });
 * const receipt = await svc.waitForTransaction(transactionHash);
 */
export function executeTreasuryProposal(
  client: Client,
  { treasuryId, proposalId }: ProposalPlaceParams,
): Promise<TreasuryProposal> {
  return request<typeof endpoints.executeTreasuryProposal>(client, {
    route: 'POST /treasuries/{id}/transactions/{proposalId}/execute',
    access: 'secret',
    params: { id: treasuryId, proposalId },
  });
}

/**
 * Cancels a proposal that is not under way. Server only: needs the secret key.
 *
 * @example
 * await svc.treasuries.cancelTreasuryProposal({ treasuryId: treasury.id, proposalId: proposal.id });
 */
export function cancelTreasuryProposal(
  client: Client,
  { treasuryId, proposalId }: ProposalPlaceParams,
): Promise<TreasuryProposal> {
  return request<typeof endpoints.cancelTreasuryProposal>(client, {
    route: 'POST /treasuries/{id}/transactions/{proposalId}/cancel',
    access: 'secret',
    params: { id: treasuryId, proposalId },
  });
}

/**
 * The public key that a wallet's owner signs with, for the list of signers. The PIN or passkey opens the wallet; nothing
 * is sent.
 *
 * @example
 * const publicKey = await starkPublicKey({ wallet, encryptKey });
 */
export async function starkPublicKey(key: {
  readonly wallet: SvcWallet;
  readonly encryptKey: string;
}): Promise<string> {
  return toHex(starkKey(await openWalletKey(key)));
}
