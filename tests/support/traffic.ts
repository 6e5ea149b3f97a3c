import { type App, Owner } from './app.ts';
import { claimAt, newWallet } from './gifts.ts';
import type { ServerProcess } from './server.ts';

export interface Traffic {
  /** Processes that get requests, as behind a balancer. */
  readonly servers: ServerProcess[];
  readonly problems: string[];
  readonly redeems: string[];
  rounds: number;
  isOver: boolean;
}

export const newTraffic = (servers: ServerProcess[]): Traffic => ({
  servers,
  problems: [],
  redeems: [],
  rounds: 0,
  isOver: false,
});

/** A wallet, a gift, its redeem and reads, over and over. */
export async function sendTraffic(app: App, traffic: Traffic, place: number): Promise<void> {
  let turn = place;
  const server = () => traffic.servers[turn++ % traffic.servers.length] as ServerProcess;
  const note = (what: string, { status, text }: { status: number; text: string }, wanted: number) => {
    if (status !== wanted) traffic.problems.push(`${what}: ${status} ${text}`);
  };
  while (!traffic.isOver) {
    try {
      const { code } = await app.at(server()).gift({ amount: 1, maxRedeems: 1 });
      const redeemed = await claimAt(server(), { code, chain: 'starknet', walletAddress: newWallet('starknet') });
      note('redeem', redeemed, 201);
      const { giftRedeem } = redeemed.body as { giftRedeem?: { id: string } };
      if (giftRedeem) traffic.redeems.push(giftRedeem.id);
      const owner = new Owner();
      const creation = await app.at(server()).creation(owner, `user ${owner.address}`);
      note('wallet', await app.at(server()).post('/svc-wallets', creation), 200);
      note('read', await app.at(server()).get('/organization'), 200);
      note('list', await app.at(server()).get('/gifts/history/redeems?limit=5'), 200);
    } catch (error) {
      traffic.problems.push(String(error));
    }
    traffic.rounds += 1;
  }
}
