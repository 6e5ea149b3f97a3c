import { createHash } from 'node:crypto';
import {
  ApiError,
  type Brand,
  type Branding,
  colorScheme,
  type endpoints,
  MAX_LOGO_BYTES,
  MAX_LOGO_PIXELS,
  parseColor,
} from '@svc/protocol';
import { type Db, type Reads, type Sql, sql } from '@svc/store';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../audit-log.ts';
import type { Answer, Call, Caller } from '../http/call.ts';
import { type ImageType, readImage } from '../util/image.ts';
import { storableText } from '../util/text.ts';
import type { Owner } from './organization-store.ts';

/** Columns of `branding`, also where it is joined and there is no row. */
export interface BrandRow {
  readonly brandName: string | null;
  readonly brandColor: string | null;
  readonly brandLogo: string | null;
}

export const brandColumns: Sql = sql`
  branding.name as "brandName", branding.color as "brandColor",
  branding.organization_id || '/' || branding.logo_hash as "brandLogo"`;

const ofOwner = ({ organizationId, environment }: Owner): Sql =>
  sql`organization_id = ${organizationId} and environment = ${environment}`;

const LOGO_PATH = '/branding';

/** Undefined where nothing is set. */
export function toBrand({ brandName, brandColor, brandLogo }: BrandRow, publicUrl: string): Brand | undefined {
  if (brandName === null && brandColor === null && brandLogo === null) return undefined;
  const none = { color: null, textColor: null, lightAccent: null, darkAccent: null };
  return {
    name: brandName,
    logoUrl: brandLogo === null ? null : `${publicUrl}${LOGO_PATH}/${brandLogo}`,
    ...(brandColor === null ? none : colorScheme(brandColor)),
  };
}

export async function findBrand(reads: Reads, publicUrl: string, owner: Owner): Promise<Brand | undefined> {
  const row = await reads.one<BrandRow>(sql`
    select ${brandColumns} from branding where ${ofOwner(owner)}`);
  return row && toBrand(row, publicUrl);
}

export async function readBranding(reads: Reads, publicUrl: string, owner: Owner): Promise<Branding> {
  const row = await reads.one<BrandRow & { updatedAt: Date }>(sql`
    select ${brandColumns}, updated_at as "updatedAt" from branding where ${ofOwner(owner)}`);
  const nothing = { name: null, logoUrl: null, color: null, textColor: null, lightAccent: null, darkAccent: null };
  return { ...nothing, ...(row && toBrand(row, publicUrl)), updatedAt: row?.updatedAt.toISOString() ?? null };
}

type UpdateBranding = typeof endpoints.updateBranding;
type Changes = Call<UpdateBranding>['body'];

export async function updateBranding(
  publicUrl: string,
  { caller, body, transact }: Call<UpdateBranding>,
): Promise<Answer<UpdateBranding>> {
  const changes = readChanges(body);
  return transact(async (tx) => {
    await save(tx, caller, changes);
    return readBranding(tx, publicUrl, caller);
  });
}

interface ReadChanges {
  readonly name?: string | null;
  readonly color?: string | null;
  readonly logo?: Logo | null;
}

interface Logo {
  readonly bytes: Buffer;
  readonly type: ImageType;
  readonly hash: string;
}

function readChanges({ name, color, logo }: Changes): ReadChanges {
  return {
    ...(name !== undefined && { name: name === null ? null : readName(name) }),
    ...(color !== undefined && { color: color === null ? null : readColor(color) }),
    ...(logo !== undefined && { logo: logo === null ? null : readLogo(logo) }),
  };
}

function readName(text: string): string {
  const name = storableText(text, text.length).trim();
  if (name === '') throw new ApiError('invalid_request', 'body.name must have letters.');
  return name;
}

function readColor(text: string): string {
  const color = parseColor(text);
  if (!color.ok) throw new ApiError('invalid_request', `body.color ${color.reason}.`);
  return color.value;
}

function readLogo(text: string): Logo {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > MAX_LOGO_BYTES) throw new ApiError('invalid_request', 'body.logo must have at most 128 KiB.');
  const image = readImage(bytes);
  if (!image) throw new ApiError('invalid_request', 'body.logo must be a whole PNG, JPEG or WebP image, in base64.');
  if (image.width > MAX_LOGO_PIXELS || image.height > MAX_LOGO_PIXELS) {
    const size = `${image.width} × ${image.height}`;
    throw new ApiError('invalid_request', `body.logo is ${size} pixels; at most ${MAX_LOGO_PIXELS} a side are taken.`);
  }
  return { bytes, type: image.type, hash: createHash('sha256').update(bytes).digest('hex') };
}

async function save(tx: Db, caller: Caller, changes: ReadChanges): Promise<void> {
  const { organizationId, environment } = caller;
  await tx.run(sql`
    insert into branding (organization_id, environment) values (${organizationId}, ${environment}) on conflict do nothing`);
  const before = await tx.one<{ name: string | null; color: string | null; logoHash: string | null }>(sql`
    select name, color, logo_hash as "logoHash" from branding where ${ofOwner(caller)} for update`);
  if (!before) throw new Error('Branding that was stored is not there.');
  const { logo, ...rest } = changes;
  const after = { ...before, ...rest, ...(logo !== undefined && { logoHash: logo?.hash ?? null }) };
  const changed = Object.entries(after).filter(([key, value]) => before[key as keyof typeof before] !== value);
  if (changed.length === 0) return;
  await tx.run(sql`
    update branding set name = ${after.name}, color = ${after.color}, updated_at = now()
     where ${ofOwner(caller)}`);
  if (logo !== undefined) {
    await tx.run(sql`
      update branding set logo = ${logo?.bytes ?? null}, logo_type = ${logo?.type ?? null}, logo_hash = ${logo?.hash ?? null}
       where ${ofOwner(caller)}`);
  }
  await recordChange(tx, caller, { action: 'branding.updated', changes: Object.fromEntries(changed) });
}

/** The address has the hash of the bytes, so its answer never changes. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Public: mails and claim pages show it. A replaced logo is gone. */
export function registerLogos(app: FastifyInstance, reads: Reads): void {
  app.get<{ Params: { organizationId: string; hash: string } }>(
    `${LOGO_PATH}/:organizationId/:hash`,
    async ({ params: { organizationId, hash } }, reply) => {
      const found = await reads.one<{ logo: Buffer; type: ImageType }>(sql`
        select logo, logo_type as type from branding where organization_id = ${organizationId} and logo_hash = ${hash}
         limit 1`);
      if (!found) throw new ApiError('not_found');
      return reply
        .header('cache-control', FOREVER)
        .header('content-security-policy', "default-src 'none'; sandbox; frame-ancestors 'none'")
        .header('cross-origin-resource-policy', 'cross-origin')
        .type(found.type)
        .send(found.logo);
    },
  );
}
