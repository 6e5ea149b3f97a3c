import type { Environment } from '@svc/protocol';
import { useSyncExternalStore } from 'react';
import { choice, readStored, store } from '../ui/storage.ts';

const NAME = 'svc-environment';
/** The address names it too, so that a link shows what its sender saw. */
export const SEARCH_NAME = 'env';

const isEnvironment = (text: string | null | undefined): text is Environment =>
  text === 'development' || text === 'production';

function initial(): Environment {
  const named = new URLSearchParams(globalThis.location?.search ?? '').get(SEARCH_NAME);
  const stored = readStored(NAME);
  return isEnvironment(named) ? named : isEnvironment(stored) ? stored : 'development';
}

const environment = choice<Environment>(initial(), (chosen) => store(NAME, chosen));

export const currentEnvironment = environment.get;
export const setEnvironment = environment.set;
export const useEnvironment = (): Environment => useSyncExternalStore(environment.subscribe, environment.get);
