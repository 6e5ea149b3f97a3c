import { type Reads, type Sql, sql } from '@svc/store';
import { countGauge, type Module } from '../http/module.ts';
import type { GaugeSource } from '../http/monitoring.ts';
import { type FollowTransferDeps, followTransfer, requeueStalledTransfers } from './follow-transfer.ts';
import {
  createTransfer,
  FOLLOW_TASK,
  getTransfer,
  listTransfers,
  quoteTransfer,
  type TransferDeps,
} from './transfer.ts';

type TransferOperation = 'quoteSolanaTransfer' | 'createSolanaTransfer' | 'getSolanaTransfer' | 'listSolanaTransfers';

const SWEEP_TASK = 'sweep-solana-transfers';

export function create(deps: TransferDeps & FollowTransferDeps): Module<TransferOperation> {
  return {
    handlers: {
      quoteSolanaTransfer: (call) => quoteTransfer(deps, call),
      createSolanaTransfer: (call) => createTransfer(deps, call),
      getSolanaTransfer: ({ caller, params }) => getTransfer(deps, caller, params.id),
      listSolanaTransfers: ({ caller, query }) => listTransfers(deps, caller, query),
    },
    jobs: [
      {
        handlers: {
          [FOLLOW_TASK]: ({ id }: { id: string }) => followTransfer(deps, id),
          [SWEEP_TASK]: () => requeueStalledTransfers(deps.db),
        },
        recurring: [{ task: SWEEP_TASK, everySeconds: 60 }],
      },
    ],
    gauges: gauges(deps.db.lists),
  };
}

function gauges(reads: Reads): GaugeSource[] {
  const gauge = (name: string, help: string, which: Sql) =>
    countGauge(reads, name, help, sql`solana_transfers where ${which}`);
  return [
    gauge(
      'svc_solana_transfers_open',
      'Transfers of wallets on their way to Solana',
      sql`status in ('PENDING', 'BRIDGING', 'ATTESTED')`,
    ),
    gauge(
      'svc_solana_transfers_stuck',
      'Transfers of wallets that were burned on Starknet and did not arrive on Solana',
      sql`status = 'STUCK'`,
    ),
  ];
}

export { transferOutcomes as relayOutcomes } from './follow-transfer.ts';
export { setHashOfRelay as setRelayTransactionHash } from './transfer.ts';
