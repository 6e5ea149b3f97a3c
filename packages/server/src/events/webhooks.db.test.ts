import { ApiError } from '@svc/protocol';
import { sql } from '@svc/store';
import { describe, expect, it } from 'vitest';
import { useWebhooks } from '../../testing/webhooks.ts';
import type { Caller } from '../http/call.ts';
import { findDue } from './delivery-worker.ts';
import { getWebhook, listWebhooks, MAX_WEBHOOKS } from './webhooks.ts';

const fixture = useWebhooks();

async function refusal(asked: Promise<unknown>, code: string): Promise<void> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ code });
}

const keptOf = (id: string) =>
  fixture.db.one<{ secret: string; failingSince: Date | null }>(sql`
    select secret, failing_since as "failingSince" from webhooks where id = ${id}`);
/** What the next delivery is signed with. */
async function signing(caller: Caller, id: string): Promise<readonly string[]> {
  await fixture.test(caller, id);
  const [due] = await findDue(fixture.db, id, { except: [], limit: 1 });
  return due?.secrets ?? [];
}

const logOf = ({ organizationId }: Caller) =>
  fixture.db.rows<{ action: string; target: string; actor: string; changes: unknown }>(sql`
    select action, target, actor, changes from audit_log where organization_id = ${organizationId} order by id`);

describe('making a webhook', () => {
  it('answers it with its secret, which is shown nowhere else', async () => {
    const caller = await fixture.caller();
    const made = await fixture.create(caller, { description: 'Tienda', eventTypes: ['sku-purchase.failed'] });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret, ...shown } = made;
    expect(shown).toMatchObject({ isEnabled: true, disabledReason: null, eventTypes: ['sku-purchase.failed'] });
    expect(await getWebhook(fixture.db, caller, made.id)).toEqual(shown);
    expect((await listWebhooks(fixture.db, caller, {})).data).toEqual([shown]);
    expect((await fixture.create(caller)).secret).not.toBe(secret);
  });

  it('stops at twenty for an environment, however many are made at once, until one is deleted', async () => {
    const caller = await fixture.caller();
    const tries = Array.from({ length: MAX_WEBHOOKS + 10 }, () => fixture.create(caller).catch((error) => error));
    const refused = (await Promise.all(tries)).filter((made) => made instanceof ApiError);
    expect(refused.map(({ code }) => code)).toEqual(Array(10).fill('webhook_limit_reached'));
    const { data, total } = await listWebhooks(fixture.db, caller, { limit: 100 });
    expect([data.length, total]).toEqual([MAX_WEBHOOKS, MAX_WEBHOOKS]);
    await fixture.create({ ...caller, environment: 'production' });
    await fixture.delete(caller, data[0]?.id ?? '');
    await fixture.create(caller);
  });

  it('lists the newest first, by pages', async () => {
    const caller = await fixture.caller();
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) ids.unshift((await fixture.create(caller)).id);
    const first = await listWebhooks(fixture.db, caller, { limit: 2 });
    const second = await listWebhooks(fixture.db, caller, { limit: 2, page: 2 });
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
    expect(second).toMatchObject({ total: 3, page: 2, totalPages: 2 });
  });
});

describe('changing a webhook', () => {
  it('touches only what is named', async () => {
    const caller = await fixture.caller();
    const { secret: _, ...made } = await fixture.create(caller, { description: 'Tienda' });
    const changed = await fixture.update(caller, made.id, { eventTypes: ['sku-purchase.failed'] });
    expect(changed).toEqual({ ...made, eventTypes: ['sku-purchase.failed'], updatedAt: expect.any(String) });
    const emptied = await fixture.update(caller, made.id, {
      eventTypes: null,
      description: null,
      url: 'https://b.example/',
    });
    expect(emptied).toMatchObject({ eventTypes: null, description: null, url: 'https://b.example/' });
  });

  it('switches it off by hand, keeps the first reason, and orders a turn when it is on again', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    const off = { isEnabled: false, disabledReason: 'BY_HAND' };
    expect(await fixture.update(caller, id, { isEnabled: false })).toMatchObject(off);
    expect(await fixture.update(caller, id, { description: 'still off' })).toMatchObject(off);
    expect(await fixture.nextRun(id)).toBeUndefined();
    await fixture.db.run(sql`update webhooks set disabled_reason = 'GONE', failing_since = now() where id = ${id}`);
    expect(await fixture.update(caller, id, { isEnabled: false })).toMatchObject({ disabledReason: 'GONE' });
    expect(await fixture.update(caller, id, { isEnabled: true })).toMatchObject({
      isEnabled: true,
      disabledReason: null,
    });
    expect(await fixture.nextRun(id)).toBeInstanceOf(Date);
    expect(await keptOf(id)).toMatchObject({ failingSince: null });
  });

  it('forgets past failures with the address they were of, and only then', async () => {
    const caller = await fixture.caller();
    const { id, url } = await fixture.create(caller);
    await fixture.db.run(sql`update webhooks set failing_since = now() where id = ${id}`);
    await fixture.update(caller, id, { url, isEnabled: true });
    expect(await keptOf(id)).toMatchObject({ failingSince: expect.any(Date) });
    await fixture.update(caller, id, { url: 'https://other.example/' });
    expect(await keptOf(id)).toMatchObject({ failingSince: null });
  });

  it('writes down what is other than before, by known names and by the host alone of an address', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller, {
      url: 'https://a.example/T0/hidden-path',
      eventTypes: ['webhook.test'],
    });
    const unknown = { secret: 'whsec_hidden', isEnable: false, id: 'whk_other' };
    const { updatedAt } = await getWebhook(fixture.db, caller, id);
    const same = { eventTypes: ['webhook.test' as const], isEnabled: true, description: null, ...unknown };
    expect(await fixture.update(caller, id, same)).toMatchObject({ id, updatedAt });
    await fixture.update(caller, id, { ...same, description: 'Tienda', ...unknown });
    await fixture.update(caller, id, { url: 'https://b.example/T0/hidden-path?hidden' });
    const log = await logOf(caller);
    expect(log.map(({ changes }) => changes)).toEqual([
      { host: 'a.example', description: null, eventTypes: ['webhook.test'] },
      { description: 'Tienda' },
      { host: 'b.example' },
    ]);
    await fixture.delete(caller, id);
    expect(JSON.stringify(await logOf(caller))).not.toMatch(/hidden|isEnable"|whk_other/);
  });

  it('to an address that is not public is refused and changes nothing', async () => {
    const caller = await fixture.caller();
    const { secret: _, ...made } = await fixture.create(caller);
    await refusal(
      fixture.update(caller, made.id, { url: 'https://10.0.0.1/', description: 'x' }),
      'invalid_webhook_url',
    );
    expect(await getWebhook(fixture.db, caller, made.id)).toEqual(made);
  });
});

describe('a secret', () => {
  const endSecret = (secret: string) =>
    fixture.db.run(sql`update webhook_older_secrets set ends_at = now() where secret = ${secret}`);
  const olderOf = (id: string) =>
    fixture.db.rows(sql`select secret from webhook_older_secrets where webhook_id = ${id}`);

  it('is replaced by another, and signs beside it for as long as was asked for', async () => {
    const caller = await fixture.caller();
    const made = await fixture.create(caller);
    const second = await fixture.rotate(caller, made.id, { overlapSeconds: 60 });
    expect(second.secret).not.toBe(made.secret);
    expect(await signing(caller, made.id)).toEqual([second.secret, made.secret]);
    await endSecret(made.secret);
    expect(await signing(caller, made.id)).toEqual([second.secret]);
  });

  it('that a receiver still has goes on signing when the next one is lost and replaced in turn', async () => {
    const caller = await fixture.caller();
    const { id, secret: deployed } = await fixture.create(caller);
    const lost = await fixture.rotate(caller, id);
    const known = await fixture.rotate(caller, id, { overlapSeconds: 60 });
    expect(await signing(caller, id)).toEqual([known.secret, lost.secret, deployed]);
  });

  it('has at most three older ones beside it, and none once their time is over', async () => {
    const caller = await fixture.caller();
    const secrets = [await fixture.create(caller)];
    const [{ id } = { id: '' }] = secrets;
    for (let times = 0; times < 4; times++) secrets.unshift(await fixture.rotate(caller, id));
    expect(await signing(caller, id)).toEqual(secrets.slice(0, 4).map(({ secret }) => secret));
    await endSecret(secrets[1]?.secret ?? '');
    const last = await fixture.rotate(caller, id);
    const unexpired = [last, secrets[0], secrets[2], secrets[3]].map((kept) => kept?.secret);
    expect(await signing(caller, id)).toEqual(unexpired);
  });

  it('that has leaked ends at once, and all older ones with it', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    await fixture.rotate(caller, id);
    await fixture.rotate(caller, id);
    const { secret } = await fixture.rotate(caller, id, { overlapSeconds: 0 });
    expect(await signing(caller, id)).toEqual([secret]);
    expect(await olderOf(id)).toEqual([]);
  });

  it('is gone with its webhook', async () => {
    const caller = await fixture.caller();
    const { id } = await fixture.create(caller);
    await fixture.rotate(caller, id);
    await fixture.delete(caller, id);
    expect([await keptOf(id), await olderOf(id)]).toMatchObject([{ secret: '' }, []]);
  });

  it('never stands in the audit log, which has everything else', async () => {
    const caller = await fixture.caller();
    const made = await fixture.create(caller);
    const rotated = await fixture.rotate(caller, made.id);
    await fixture.update(caller, made.id, { isEnabled: false });
    await fixture.delete(caller, made.id);
    const log = await logOf(caller);
    expect(log.map(({ action }) => action)).toEqual([
      'webhook.created',
      'webhook.secret-rotated',
      'webhook.updated',
      'webhook.deleted',
    ]);
    expect(log.every(({ target, actor }) => target === made.id && actor === 'key_1')).toBe(true);
    expect(log[2]?.changes).toEqual({ isEnabled: false });
    const text = JSON.stringify(log);
    for (const { secret } of [made, rotated]) expect(text).not.toContain(secret.slice(6, 20));
  });
});

it("another organisation's, deleted and unknown webhooks are not found", async () => {
  const [caller, stranger] = [await fixture.caller(), await fixture.caller()];
  const [made, deleted] = [await fixture.create(caller), await fixture.create(caller)];
  await fixture.delete(caller, deleted.id);
  const event = await fixture.publish(caller);
  for (const [who, id] of [
    [stranger, made.id],
    [{ ...caller, environment: 'production' as const }, made.id],
    [caller, deleted.id],
    [caller, 'whk_nothing'],
  ] as const) {
    await refusal(getWebhook(fixture.db, who, id), 'webhook_not_found');
    await refusal(fixture.update(who, id, { isEnabled: false }), 'webhook_not_found');
    await refusal(fixture.rotate(who, id), 'webhook_not_found');
    await refusal(fixture.test(who, id) as Promise<unknown>, 'webhook_not_found');
    await refusal(fixture.replay(who, id, { eventId: event }), 'webhook_not_found');
    await refusal(fixture.delete(who, id) as Promise<unknown>, 'webhook_not_found');
  }
  expect(await getWebhook(fixture.db, caller, made.id)).toMatchObject({ isEnabled: true });
});
