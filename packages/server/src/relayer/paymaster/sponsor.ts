import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@svc/protocol';
import { newId } from '../../ids.ts';
import { enqueue } from '../../jobs/enqueue.ts';
import { awaitTaken } from '../await-taken.ts';
import { findRelayByPurpose } from '../find-relay.ts';
import { outsidePurpose } from '../spelling.ts';
import type { Relayed, Sponsor, Sponsorship, StoreWithRelay } from '../sponsor.ts';
import { RESEND_AFTER_MS } from './follow.ts';
import { followJob } from './follow-job.ts';
import type { PaymasterParts } from './parts.ts';
import { prepare } from './prepare.ts';
import { notTakenYet, refusedToExecute } from './refusals.ts';
import { executeRequest } from './requests.ts';
import { send } from './send.ts';
import { insertRelay, type PaymasterRelay, readRelay } from './store.ts';

/** How far a reorganisation may take the chain back and its transactions are still looked for. */
const REORGANISED_BLOCKS = 100;

/** Has a paymaster pay for gas, in place of accounts of our own. */
export function createPaymasterSponsor(parts: PaymasterParts): Sponsor {
  return {
    prepare: (request) => prepare(parts, request),
    async sponsor(sponsorship, store) {
      const { chain } = parts.networks.starknet(sponsorship.environment);
      const { execution, account } = sponsorship;
      const messageHash =
        sponsorship.messageHash ?? (await parts.crypto.executionHash(execution, account, chain.chainId));
      const purpose = outsidePurpose(account, execution.nonce);
      const known = await findRelayByPurpose(parts.db.reads, chain.chainId, purpose);
      const added = known ? undefined : await storeRelay(parts, sponsorship, { purpose, messageHash, store });
      if (added) return sendFirst(parts, added);
      const first = known ?? (await findRelayByPurpose(parts.db.reads, chain.chainId, purpose));
      if (first?.messageHash === messageHash) return awaitTaken(parts.db.reads, first.id, pause);
      throw new ApiError(
        'invalid_typed_data',
        'The nonce of this typed data was used for another message. Prepare it again.',
      );
    },
  };
}

interface Identity {
  readonly purpose: string;
  readonly messageHash: bigint;
  readonly store: StoreWithRelay;
}

/** Undefined when another request has stored it meanwhile. */
async function storeRelay(
  { db, networks }: PaymasterParts,
  sponsorship: Sponsorship,
  { purpose, messageHash, store }: Identity,
): Promise<PaymasterRelay | undefined> {
  const { environment, kind, account: wallet, execution } = sponsorship;
  const { chain } = networks.starknet(environment);
  const request = executeRequest(sponsorship, chain.chainId);
  const fromBlock = Math.max(0, (await chain.blockNumber()) - REORGANISED_BLOCKS);
  const notAfter = new Date(Number(execution.executeBefore) * 1_000);
  const id = newId('rly');
  const identity = { id, environment, chainId: chain.chainId, kind, purpose, messageHash, wallet };
  return db.tx(async (tx) => {
    if (!(await insertRelay(tx, { ...identity, notAfter, request, fromBlock }))) return undefined;
    await store(tx, { id, hash: undefined });
    // Should this process end before the paymaster has answered, another one goes on from here.
    await enqueue(tx, followJob(id, RESEND_AFTER_MS));
    return readRelay(tx, id);
  });
}

async function sendFirst(parts: PaymasterParts, relay: PaymasterRelay): Promise<Relayed> {
  const answer = await send(parts, relay);
  if (answer.outcome === 'answered') return { id: relay.id, hash: answer.value };
  const now = await readRelay(parts.db, relay.id);
  if (now?.hash !== undefined) return { id: relay.id, hash: now.hash };
  if (answer.outcome === 'refused' && now?.state === 'VOIDED') throw refusedToExecute(answer);
  throw notTakenYet(answer.reason);
}
