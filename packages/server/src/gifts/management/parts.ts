import type { Environment, UsdMicros } from '@svc/protocol';
import type { Database, Db } from '@svc/store';
import type { Organizations } from '../../organizations/routes.ts';

/** A mail with the link to a gift. */
export interface GiftMail {
  readonly organizationId: string;
  readonly environment: Environment;
  readonly recipient: string;
  readonly template: 'gift';
  readonly content: {
    readonly code: string;
    readonly name: string;
    readonly amountUsd: string;
    readonly claimUrl: string;
    readonly orgName: string;
  };
}

export interface GiftParts {
  readonly db: Database;
  readonly organizations: Organizations;
  /** What a redemption may cost in gas. */
  readonly gas: UsdMicros;
  /** The account that pays redemptions out; `chain_not_configured` where there is none. */
  readonly manager: (environment: Environment) => unknown;
  readonly bridge: {
    /** The most that the bridge may take of one transfer; `chain_not_configured` where there is no bridge. */
    feeCeiling(environment: Environment, amount: UsdMicros, fast: boolean): Promise<UsdMicros>;
  };
  /** Stores mails together with what else the transaction stores. */
  readonly queueMails: (tx: Db, mails: readonly GiftMail[]) => Promise<void>;
  /** Where people reach the claim page. */
  readonly publicUrl: () => string;
  readonly now?: () => number;
  readonly newCode?: () => string;
}
