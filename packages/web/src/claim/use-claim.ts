import type { RedeemChain } from '@svc/protocol';
import type { Client } from '@svc/sdk';
import { useCallback, useEffect, useRef, useState } from 'react';
import { followRedeem } from './follow-redeem.ts';
import { lookUp } from './gift.ts';
import { forgetRedeem, type KeptRedeem, keepRedeem, newKey, readRedeem, type Shelf } from './saved-redeem.ts';
import type { Screen, ValidClaim } from './screen.ts';

export interface ClaimParts {
  readonly code: string;
  readonly client: Client;
  readonly shelf: Shelf;
}

export interface ClaimActions {
  readonly show: (screen: Screen) => void;
  /** Looks the code up again. */
  readonly lookAgain: () => void;
  readonly send: (claim: ValidClaim, chain: RedeemChain, walletAddress: string) => void;
  /** Goes on with a redeem that something stopped. */
  readonly goOn: (redeem: KeptRedeem) => void;
  /** Leaves a redeem behind, once the code is seen to be good for another: until then its receipt stays. */
  readonly beginAnother: () => void;
}

/** What the page shows and what a person can do about it. A redeem that was begun on this device comes before anything else. */
export function useClaim(parts: ClaimParts): [Screen, ClaimActions] {
  const { code, client, shelf } = parts;
  const [screen, show] = useState<Screen>(() => firstScreen(code, shelf));
  const start = useRunning();
  const isLeaving = useRef(false);

  const lookAgain = useCallback(() => {
    show({ at: 'looking' });
    start(async (signal) => {
      const found = await lookUp(client, code);
      if (signal.aborted) return;
      if (isLeaving.current && found.at === 'gift') forgetRedeem(shelf, code);
      isLeaving.current &&= found.at !== 'gift';
      show(found);
    });
  }, [client, code, shelf, start]);

  const goOn = useCallback(
    (redeem: KeptRedeem, claim?: ValidClaim) => {
      show({ at: 'sending', redeem });
      start(async (signal) => {
        const shown = await followRedeem(parts, redeem, { signal, show, claim });
        if (!signal.aborted) show(shown);
      });
    },
    [parts, start],
  );

  const send = useCallback(
    (claim: ValidClaim, chain: RedeemChain, walletAddress: string) => {
      // Another tab may have begun one: there is one redeem at a time.
      const kept = readRedeem(shelf, code) ?? begin(parts, claim, chain, walletAddress);
      goOn(kept, claim);
    },
    [code, goOn, parts, shelf],
  );

  const beginAnother = useCallback(() => {
    isLeaving.current = true;
    lookAgain();
  }, [lookAgain]);

  const first = useRef(screen);
  useEffect(() => {
    if (first.current.at === 'looking') lookAgain();
    if (first.current.at === 'sending') goOn(first.current.redeem);
  }, [goOn, lookAgain]);

  return [screen, { show, lookAgain, send, goOn, beginAnother }];
}

/** One thing runs at a time; what is begun ends what ran before, and with the page everything ends. */
function useRunning(): (work: (signal: AbortSignal) => Promise<void>) => void {
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  return useCallback((work) => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    void work(controller.signal);
  }, []);
}

function firstScreen(code: string, shelf: Shelf): Screen {
  if (code === '') return { at: 'enterCode' };
  const redeem = readRedeem(shelf, code);
  if (!redeem) return { at: 'looking' };
  return { at: redeem.status === 'SUCCESS' ? 'done' : 'sending', redeem };
}

function begin({ code, client, shelf }: ClaimParts, claim: ValidClaim, chain: RedeemChain, walletAddress: string) {
  const { amount, token } = claim.gift;
  const { runtime } = client;
  const redeem: KeptRedeem = {
    ...{ code, chain, walletAddress, amount, token },
    ...{ idempotencyKey: newKey(runtime), beganAtMs: runtime.now() },
  };
  keepRedeem(shelf, redeem);
  return redeem;
}
