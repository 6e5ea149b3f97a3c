import { existsSync } from 'node:fs';

import { choosePlace } from './place.ts';
import { findRunning, urlOf } from './running.ts';
import { DATABASE } from './start.ts';

/** The address of the embedded PostgreSQL that runs on dataDir, for a guest who neither owns nor stops it. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  if (!existsSync(dataDir)) return undefined;
  const place = choosePlace(dataDir, () => {});
  const running = await findRunning(place);
  return running && urlOf(place, running.port, DATABASE);
}
