import type { Treasury, TreasuryProposal } from '@svc/protocol';
import { type App, bodyOf, Owner } from './app.ts';
import { eventually } from './eventually.ts';

export interface TreasuryTerms {
  readonly signers: readonly Owner[];
  readonly threshold: number;
  readonly limits?: readonly object[];
}

/** Created and deployed. */
export async function newTreasury(app: App, { signers, threshold, limits }: TreasuryTerms): Promise<Treasury> {
  const named = signers.map(({ publicKey }, index) => ({ name: `Signer ${index + 1}`, publicKey }));
  const created = await app.post('/treasuries', { name: 'Caja', signers: named, threshold, limits });
  const { id } = bodyOf<Treasury>(created, 201);
  const read = async () => bodyOf<Treasury>(await app.get(`/treasuries/${id}`), 200);
  return eventually(read, ({ isDeployed }) => isDeployed);
}

export async function propose(app: App, { id }: Treasury, body: object): Promise<TreasuryProposal> {
  return bodyOf<TreasuryProposal>(await app.post(`/treasuries/${id}/transactions`, body), 201);
}

export const pathOf = ({ treasuryId, id }: TreasuryProposal) => `/treasuries/${treasuryId}/transactions/${id}`;

export function signatureBody(treasury: Treasury, proposal: TreasuryProposal, signer: Owner) {
  const { r, s } = signer.sign(proposal.typedData, treasury.address);
  return { publicKey: signer.publicKey, signature: [r, s] };
}

export function signAs(app: App, treasury: Treasury, proposal: TreasuryProposal, signer: Owner) {
  return app.post(`${pathOf(proposal)}/sign`, signatureBody(treasury, proposal, signer));
}

export interface ExampleTreasury {
  readonly signer: Owner;
  readonly treasury: Treasury;
  readonly signed: TreasuryProposal;
  readonly signature: object;
  readonly ready: TreasuryProposal;
  readonly unwanted: TreasuryProposal;
}

/** One signer; calls that need no money. */
export async function prepareTreasury(app: App, token: string, spender: string): Promise<ExampleTreasury> {
  const signer = new Owner();
  const treasury = await newTreasury(app, { signers: [signer], threshold: 1 });
  const calls = [{ contractAddress: token, entrypoint: 'approve', calldata: [spender, '1', '0'] }];
  const [signed, ready, unwanted] = [
    await propose(app, treasury, { calls }),
    await propose(app, treasury, { calls }),
    await propose(app, treasury, { calls }),
  ];
  bodyOf(await signAs(app, treasury, ready, signer), 200);
  return { signer, treasury, signed, signature: signatureBody(treasury, signed, signer), ready, unwanted };
}
