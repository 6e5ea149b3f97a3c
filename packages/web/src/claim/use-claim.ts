import type { RedeemChain } from '@svc/protocol';
import type { Client, NewRecipientWallet } from '@svc/sdk';
import { useCallback, useEffect, useRef, useState } from 'react';
import { followRedeem } from './follow-redeem.ts';
import { lookUpGift, nameOf } from './gift.ts';
import { makeWallet } from './make-wallet.ts';
import {
  deleteRedeem,
  type KeyValueStorage,
  loadRedeem,
  newIdempotencyKey,
  type SavedRedeem,
  saveRedeem,
} from './saved-redeem.ts';
import { loadWallet, newWalletOf, type SavedWallet, saveWallet } from './saved-wallet.ts';
import type { Screen, ValidClaim } from './screen.ts';

export interface ClaimDeps {
  readonly code: string;
  readonly client: Client;
  readonly storage: KeyValueStorage;
}

export interface ClaimActions {
  readonly show: (screen: Screen) => void;
  readonly lookUpAgain: () => void;
  readonly send: (claim: ValidClaim, chain: RedeemChain, walletAddress: string) => void;
  readonly resume: (redeem: SavedRedeem) => void;
  /** Makes the wallet and has the gift paid into it. Another tab's wallet goes on instead. */
  readonly make: (claim: ValidClaim, draft: NewRecipientWallet) => void;
  readonly resumeWallet: (wallet: SavedWallet, claim?: ValidClaim) => void;
  /** Deletes the saved redeem only once the code proves valid for another: until then its receipt stays. */
  readonly startAnother: () => void;
}

/** Screen state and actions of the page. A redeem started on this device comes before anything else. */
export function useClaim(deps: ClaimDeps): [Screen, ClaimActions] {
  const { code, client, storage } = deps;
  const [screen, show] = useState<Screen>(() => firstScreen(code, storage));
  const start = useAbortableTask();
  const isLeaving = useRef(false);

  const lookUpAgain = useCallback(() => {
    show({ at: 'looking' });
    start(async (signal) => {
      const found = await lookUpGift(client, code);
      if (signal.aborted) return;
      if (isLeaving.current && found.at === 'gift') deleteRedeem(storage, code);
      isLeaving.current &&= found.at !== 'gift';
      show(found);
    });
  }, [client, code, storage, start]);

  const resume = useCallback(
    (redeem: SavedRedeem, claim?: ValidClaim) => {
      show({ at: 'sending', redeem });
      start(async (signal) => {
        const last = await followRedeem(deps, redeem, { signal, show, claim });
        if (!signal.aborted) show(last);
      });
    },
    [deps, start],
  );

  const send = useCallback(
    (claim: ValidClaim, chain: RedeemChain, walletAddress: string) => {
      // Another tab may have started one: one redeem at a time.
      const redeem = loadRedeem(storage, code) ?? createRedeem(deps, claim, chain, walletAddress);
      resume(redeem, claim);
    },
    [code, resume, deps, storage],
  );

  const resumeWallet = useCallback(
    (wallet: SavedWallet, claim?: ValidClaim) => {
      show({ at: 'making', wallet });
      start(async (signal) => {
        const last = await makeWallet(wallet, { client, storage, signal, claim });
        if (!signal.aborted) show(last);
      });
    },
    [client, storage, start],
  );

  const make = useCallback(
    (claim: ValidClaim, draft: NewRecipientWallet) => {
      const { amount, token } = claim.gift;
      const about = { code, draft, amount, token, orgName: nameOf(claim) };
      const wallet = loadWallet(storage, code) ?? newWalletOf(about, client.runtime);
      saveWallet(storage, wallet);
      resumeWallet(wallet, claim);
    },
    [client, code, storage, resumeWallet],
  );

  const startAnother = useCallback(() => {
    isLeaving.current = true;
    lookUpAgain();
  }, [lookUpAgain]);

  const first = useRef(screen);
  useEffect(() => {
    if (first.current.at === 'looking') lookUpAgain();
    if (first.current.at === 'sending') resume(first.current.redeem);
    if (first.current.at === 'making') resumeWallet(first.current.wallet);
  }, [resume, lookUpAgain, resumeWallet]);

  return [screen, { show, lookUpAgain, send, resume, make, resumeWallet, startAnother }];
}

/** At most one task runs: starting one aborts the last, and unmounting aborts all. */
function useAbortableTask(): (work: (signal: AbortSignal) => Promise<void>) => void {
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return useCallback((work) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    void work(controller.signal);
  }, []);
}

function firstScreen(code: string, storage: KeyValueStorage): Screen {
  if (code === '') return { at: 'enterCode' };
  const redeem = loadRedeem(storage, code);
  const wallet = loadWallet(storage, code);
  if (!redeem && wallet) return { at: wallet.status === 'SUCCESS' ? 'walletDone' : 'making', wallet };
  if (!redeem) return { at: 'looking' };
  return { at: redeem.status === 'SUCCESS' ? 'done' : 'sending', redeem };
}

function createRedeem(
  { code, client, storage }: ClaimDeps,
  claim: ValidClaim,
  chain: RedeemChain,
  walletAddress: string,
) {
  const { amount, token } = claim.gift;
  const { runtime } = client;
  const redeem: SavedRedeem = {
    ...{ code, chain, walletAddress, amount, token },
    ...{ idempotencyKey: newIdempotencyKey(runtime), beganAtMs: runtime.now() },
  };
  saveRedeem(storage, redeem);
  return redeem;
}
