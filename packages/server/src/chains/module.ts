import { classes, toHex } from '@svc/starknet';
import type { Handlers } from '../http/call.ts';
import type { Module } from '../http/module.ts';
import type { Checks } from '../http/monitoring.ts';
import type { Networks, StarknetNetwork } from './networks.ts';
import { describePool } from './private-pool.ts';

export function create(deps: { readonly networks: Networks }): Module<'getConfig'> {
  const { networks } = deps;
  const starknet = networks.environments().map((environment) => networks.starknet(environment));
  return { handlers: configHandlers(networks), checks: chainChecks(starknet) };
}

export function configHandlers(networks: Networks): Pick<Handlers, 'getConfig'> {
  return {
    getConfig: async ({ caller }) => {
      const network = networks.starknet(caller.environment);
      return {
        network: network.name,
        chainId: toHex(network.chain.chainId),
        rpcUrl: network.rpcUrl,
        paymentAddress: network.paymentAddress,
        tokens: networks.tokens(caller.environment),
        walletClasses: network.walletClasses.map(({ walletType, classHash, current }) => {
          return { walletType, classHash: toHex(classHash), current };
        }),
        privateBalance: await describePool(network.pool),
      };
    },
  };
}

/** Below the time that a readiness probe gives a check. */
const PROBE_MS = 1_500;
/** A node that is slow for longer counts as unreachable. */
const SLOW_MS = 15_000;

export function chainChecks(
  networks: readonly Pick<StarknetNetwork, 'chain' | 'walletClasses'>[],
  now: () => number = () => performance.now(),
): Checks {
  const answers = networks.map(({ chain }) => createProbe(() => chain.blockNumber(), now));
  return {
    node: async () => {
      const reached = await Promise.all(answers.map((probe) => probe()));
      return reached.every((isReached) => isReached) ? 'ok' : 'unreachable';
    },
    class: async () => {
      const declared = await Promise.all(networks.map(isClassDeclared));
      return declared.every((isDeclared) => isDeclared) ? 'ok' : 'undeclared';
    },
    treasuryClass: async () => {
      const found = await Promise.all(networks.map(({ chain }) => chain.classEntrypoints(classes.treasury)));
      return found.includes(undefined) ? 'missing' : 'ok';
    },
  };
}

/** The chain remembers classes that it found: while its node is down, a declared class stays declared. */
async function isClassDeclared({ chain, walletClasses }: Pick<StarknetNetwork, 'chain' | 'walletClasses'>) {
  const current = walletClasses.find((each) => each.current && each.walletType === 'SVC');
  return current !== undefined && (await chain.classEntrypoints(current.classHash)) !== undefined;
}

/** Asks once at a time. An answer that is late, not missing, counts for as long as the last one is recent. */
function createProbe(ask: () => Promise<unknown>, now: () => number): () => Promise<boolean> {
  let answeredAt = now();
  let asking: Promise<boolean> | undefined;
  return async () => {
    asking ??= ask()
      .then(
        () => {
          answeredAt = now();
          return true;
        },
        () => false,
      )
      .finally(() => {
        asking = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(now() - answeredAt < SLOW_MS), PROBE_MS);
    });
    return Promise.race([asking, late]).finally(() => clearTimeout(timer));
  };
}
