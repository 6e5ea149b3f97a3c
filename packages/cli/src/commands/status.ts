import type { Command } from 'commander';
import { action, fetchJson, group } from '../context.ts';
import { CliError, exitCodes } from '../failure.ts';
import { facts } from '../output.ts';

interface Ready {
  readonly status?: string;
  readonly checks?: Readonly<Record<string, string | boolean>>;
}

export function statusCommand(): Command {
  return group('status', 'show the service, your organisation and its credits').action(
    action(async (context) => {
      const { origin, credentials, out } = context;
      const { status, answer } = await fetchJson(`${origin}/readyz`);
      const { checks = {} } = answer as Ready;
      const isReady = status === 200;
      const hasKeys = credentials.publicKey !== undefined && credentials.secretKey !== undefined;
      const organization = hasKeys ? await context.svc.getOrganization() : undefined;
      const overview = hasKeys ? await context.svc.getOverview({ range: '24h' }) : undefined;
      const result = { url: credentials.baseUrl, source: credentials.source, isReady, checks, organization };
      out.answer({ ...result, last24h: overview?.totals }, () =>
        facts([
          ['service', `${credentials.baseUrl} (${isReady ? 'ok' : 'not ready'})`],
          ['credentials', credentials.source],
          ...Object.entries(checks).filter(([, word]) => word !== false),
          ...(organization
            ? [
                ['organisation', `${organization.name} (${organization.id})`] as const,
                ['environment', organization.environment] as const,
                [
                  'credits',
                  `${organization.balance.availableUsd} USD available, ${organization.balance.heldUsd} held`,
                ] as const,
                ['deposits to', organization.depositAddress] as const,
              ]
            : [['keys', 'none; set SVC_PUBLIC_KEY and SVC_SECRET_KEY'] as const]),
          ...(overview
            ? [
                [
                  'last 24 hours',
                  `${overview.totals.wallets} wallets, ${overview.totals.transactions} transactions (${overview.totals.failedTransactions} failed), ` +
                    `${overview.totals.giftsRedeemed} gifts redeemed, ${overview.totals.purchases} purchases`,
                ] as const,
              ]
            : []),
        ]),
      );
      if (!isReady) {
        throw new CliError('not_ready', 'The service is not ready. svc doctor says what to do.', exitCodes.failed);
      }
    }),
  );
}
