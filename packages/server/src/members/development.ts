import type { Db } from '@svc/store';
import * as store from './member-store.ts';
import { createLink, type Link } from './sign-in-links.ts';

/** No mail server has it: links for it are printed, never sent. */
const OWNER_EMAIL = 'owner@localhost';

export interface DevelopmentOwner {
  readonly organizationId: string;
  /** Where live money is, the operators are those that were invited. */
  readonly isOperator: boolean;
}

/** A link that signs in as the owner of the development organisation, who is made where there is none. */
export function createDevelopmentLink(db: Db, { organizationId, isOperator }: DevelopmentOwner): Promise<Link> {
  return db.tx(async (tx) => {
    await store.lockMembers(tx, organizationId);
    const { id: personId } = await store.ensurePerson(tx, OWNER_EMAIL, 'Development');
    const known = await store.findMemberOfPerson(tx, organizationId, personId);
    if (!known) await store.insertMember(tx, { organizationId, personId, role: 'OWNER', joined: true });
    if (isOperator) await store.makeOperator(tx, personId);
    return createLink(tx, { personId, purpose: 'SIGN_IN', organizationId });
  });
}
