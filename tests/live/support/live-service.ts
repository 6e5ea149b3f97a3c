import { classes, toHex } from '@svc/starknet';
import { credit } from '../../../packages/server/src/ledger/ledger.ts';
import { bodyOf, hashOf, type Organization, Owner } from '../../support/app.ts';
import type { Reply } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import type { ServerProcess } from '../../support/server.ts';
import { TestService } from '../../support/service.ts';
import { type BlockMode, Devnet } from './devnet.ts';

type Env = Record<string, string>;

/** 10,000 USD. */
const CREDITS = 10_000_000_000n;

export interface LiveRecord {
  readonly status: string;
  readonly type: string;
  readonly subType: string | null;
  readonly token: string | null;
  readonly amount: string | null;
}

/** The service with `SANDBOX=off` in a process of its own, on devnet, which it takes for mainnet. */
export class LiveService {
  readonly devnet: Devnet;
  readonly service: TestService<ServerProcess>;
  /** Of production. */
  readonly app: Organization;
  #users = 0;

  static async start(blocks: BlockMode, env: Env = {}): Promise<LiveService> {
    const devnet = await Devnet.start({ blocks, chainId: 'MAINNET' });
    try {
      const service = await TestService.start({ ...settingsFor(devnet), ...env });
      const app = await service.organization({ environment: 'production' });
      const owner = { organizationId: app.id, environment: 'production' } as const;
      await credit(service.db, { ...owner, type: 'GRANT', amount: CREDITS, reference: 'credits of the test' });
      return new LiveService(devnet, service, app);
    } catch (error) {
      await devnet.stop();
      throw error;
    }
  }

  private constructor(devnet: Devnet, service: TestService<ServerProcess>, app: Organization) {
    this.devnet = devnet;
    this.service = service;
    this.app = app;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.devnet.stop();
  }

  /** Deployed, with USDC. */
  async wallet({ classHash = classes.svc as bigint, usdc = '100', user = this.newUser() } = {}): Promise<Owner> {
    const owner = new Owner(classHash);
    await this.app.createWallet(owner, user, owner.walletType);
    await eventually(
      () => this.app.get(`/svc-wallets/by-user?externalUserId=${encodeURIComponent(user)}`),
      ({ body }) => (body as { isDeployed?: boolean }).isDeployed === true,
    );
    await this.devnet.faucet(owner.address, 'USDC', usdc);
    return owner;
  }

  newUser(): string {
    this.#users += 1;
    return `user ${process.pid} ${Date.now()} ${this.#users}`;
  }

  /** A recipient without any history. */
  newRecipient(): string {
    return new Owner().address;
  }

  /** The record of a sent transaction once it has ended. */
  async ended(reply: Reply): Promise<LiveRecord> {
    const hash = hashOf(reply);
    const read = async () => bodyOf<LiveRecord>(await this.app.get(`/transactions/${hash}`), 200);
    return eventually(read, ({ status }) => status !== 'PENDING' && status !== 'PROCESSING');
  }

  async classAt(address: string): Promise<bigint | undefined> {
    const { result } = await this.devnet.rpc('getClassHashAt', ['latest', address]);
    return result === undefined ? undefined : BigInt(String(result));
  }
}

export function settingsFor(devnet: Devnet): Env {
  const pair = (label: string) => {
    const { address, privateKey } = devnet.account(label);
    return `${address}:${privateKey}`;
  };
  return {
    SANDBOX: 'off',
    STARKNET_NETWORK: 'mainnet',
    STARKNET_RPC_URLS: devnet.rpcUrl,
    STARKNET_PUBLIC_RPC_URL: devnet.rpcUrl,
    SVC_CLASS_HASH: toHex(classes.svc),
    PAYMENT_ADDRESS: devnet.account('payment').address,
    RELAYER_ACCOUNTS: ['relayer 1', 'relayer 2', 'relayer 3'].map(pair).join(),
    MANAGER_ACCOUNT: pair('manager'),
    BRIDGE: 'off',
    DEPOSIT_CONFIRMATIONS: '1',
    SPONSORED_PER_SECOND: '1000',
    SPONSORED_DAILY_STRK: '100000',
    ALLOW_LOOPBACK_URLS: 'on',
    DATABASE_POOL_SIZE: '10',
  };
}
