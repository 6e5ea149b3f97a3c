import { connect } from '@svc/store';
import { sharedHead } from './chain/head.ts';
import { RecentBlocks } from './chain/recent-blocks.ts';
import { StateCache } from './chain/state.ts';
import { BlockTimer, ensureGenesis, Writer } from './chain/writer.ts';
import { type Command, runCommand } from './controls/commands.ts';
import type { SpecVersion } from './rpc/context.ts';
import { answerRpc, type RpcAccess, type RpcAnswer } from './rpc/rpc.ts';

/** One writer, the others read; separate from the service's pool. */
const POOL_SIZE = 3;

export interface StarknetNode {
  rpc(body: string, spec: SpecVersion, access?: RpcAccess): Promise<RpcAnswer>;
  command(command: Command): Promise<unknown>;
  close(): Promise<void>;
}

export interface NodeOptions {
  readonly url: string;
  readonly report: (error: unknown) => void;
  readonly now?: () => number;
}

/** A Starknet node on a database that it may share with other nodes. */
export async function startNode({ url, report, now = Date.now }: NodeOptions): Promise<StarknetNode> {
  const db = connect(url, { max: POOL_SIZE, applicationName: 'svc sandbox' });
  try {
    await ensureGenesis(db, now);
  } catch (error) {
    await db.close();
    throw error;
  }
  const cache = new StateCache();
  const blocks = new RecentBlocks();
  const writer = new Writer(db, { cache, blocks }, now);
  const timer = new BlockTimer(db, writer, now);
  const deps = { db, readHead: sharedHead(db.reads), cache, blocks, writer, now, report };
  return {
    rpc: (body, spec, access) => answerRpc(deps, body, spec, access),
    command: async (command) => {
      const answer = await runCommand(deps, command);
      if (command.do === 'set-block-time') timer.wake();
      return answer;
    },
    close: async () => {
      await timer.stop();
      await writer.idle();
      await db.close();
    },
  };
}
