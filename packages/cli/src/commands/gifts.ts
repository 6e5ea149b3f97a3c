import { existsSync } from 'node:fs';
import { type Gift, type GiftType, giftTypes } from '@svc/protocol';
import { findGiftColumns, toCsv } from '@svc/protocol/values';
import type { Command } from 'commander';
import type { Card, Paper } from '../cards.ts';
import {
  action,
  type Context,
  choice,
  group,
  type LimitOptions,
  pageSize,
  take,
  whole,
  withLimit,
} from '../context.ts';
import { readTable } from '../csv.ts';
import { usage } from '../failure.ts';
import { writePrivate } from '../import-state.ts';
import { facts, time } from '../output.ts';
import { importCommand } from './gift-import.ts';

interface GiftFilterOptions {
  readonly campaign?: string;
  readonly search?: string;
  readonly type?: GiftType;
  readonly active?: boolean;
}

const withFilters = (command: Command) =>
  command
    .option('--campaign <name>', 'of a bulk creation or import')
    .option('-s, --search <text>', 'the id, the beginning of the code or a part of the name')
    .addOption(choice('--type <type>', 'type', giftTypes))
    .option('--active', 'only active ones')
    .option('--no-active', 'only those that are switched off');

const filtersOf = ({ campaign, search, type, active }: GiftFilterOptions) => ({
  campaignName: campaign,
  search,
  type,
  isActive: active,
});

export function giftsCommand(): Command {
  const gifts = group('gifts', 'list, create, import, export and print gifts');
  withFilters(withLimit(gifts.command('list', { isDefault: true })))
    .description('list gifts, newest first')
    .action(
      action<LimitOptions & GiftFilterOptions>(async ({ svc, out }, options) => {
        const rows = await take(svc.gifts.gifts({ ...filtersOf(options), pageSize: pageSize(options) }), options);
        out.list(
          rows,
          [
            { title: 'ID', value: ({ id }) => id },
            { title: 'CODE', value: ({ code }) => code },
            { title: 'USDC', value: ({ amount }) => amount, align: 'right' },
            {
              title: 'REDEEMED',
              value: ({ totalRedeems, maxRedeems }) => `${totalRedeems}/${maxRedeems}`,
              align: 'right',
            },
            { title: 'ACTIVE', value: ({ isActive }) => isActive },
            { title: 'EXPIRES', value: ({ expiresAt }) => time(expiresAt) },
            { title: 'NAME', value: ({ name }) => name },
          ],
          'There are no such gifts.',
        );
      }),
    );
  gifts
    .command('show')
    .argument('<id>')
    .description('show a gift')
    .action(
      action(async ({ svc, out }, _, id) => {
        const gift = await svc.gifts.getGift({ id });
        out.answer(gift, () => facts(Object.entries(gift)));
      }),
    );
  gifts.addCommand(createCommand());
  gifts.addCommand(importCommand());
  gifts.addCommand(exportCommand());
  gifts.addCommand(cardsCommand());
  return gifts;
}

interface CreateOptions {
  readonly name: string;
  readonly amount: string;
  readonly code?: string;
  readonly redeems: number;
  readonly perWallet: number;
  readonly starts?: string;
  readonly expires?: string;
  readonly type?: GiftType;
}

const MAX_REDEEMS = 1_000_000;

const createCommand = () =>
  group('create', 'create a gift code and hold its credits')
    .requiredOption('--name <name>', 'recipients see it')
    .requiredOption('--amount <usdc>', 'for each redeem')
    .option('--code <code>', '4 to 64 letters, digits, _ and -; default: a random one')
    .option('--redeems <count>', 'how often it can be redeemed in all', whole(1, MAX_REDEEMS), 1)
    .option('--per-wallet <count>', 'how often by one wallet', whole(1, MAX_REDEEMS), 1)
    .option('--starts <time>', 'ISO 8601; default: now')
    .option('--expires <time>', 'ISO 8601; default: never')
    .addOption(choice('--type <type>', 'type', giftTypes))
    .action(
      action<CreateOptions>(async ({ svc, out }, options) => {
        const gift = await svc.gifts.createGift({
          name: options.name,
          amount: options.amount,
          code: options.code,
          maxRedeems: options.redeems,
          maxRedeemsPerUser: options.perWallet,
          startsAt: options.starts ?? new Date().toISOString(),
          expiresAt: options.expires,
          type: options.type,
          isActive: true,
        });
        out.answer(gift, () =>
          facts([
            ['code', gift.code],
            ['link', gift.claimUrl],
            ['pays', `${gift.amount} USDC, ${gift.maxRedeems} times`],
            ['held', `${gift.totalHeldUsd} USD`],
            ['id', gift.id],
          ]),
        );
      }),
    );

const columns = [
  ...(['id', 'code', 'claimUrl', 'name', 'campaignName', 'amount', 'type', 'isActive', 'totalRedeems'] as const),
  ...(['maxRedeems', 'maxRedeemsPerUser', 'totalHeldUsd', 'totalRedeemedUsd', 'recipientEmail'] as const),
  ...(['startsAt', 'expiresAt'] as const),
];

interface FileOptions {
  readonly out?: string;
  readonly force?: boolean;
}

const exportCommand = () =>
  withFilters(group('export', 'write gifts with their codes and links as CSV'))
    .option('-o, --out <file>', 'default: standard output')
    .option('-f, --force', 'replace the file')
    .action(
      action<GiftFilterOptions & FileOptions>(async (context, options) => {
        const { svc, out } = context;
        requireFree(options.out, options.force);
        const gifts = await readAll(svc.gifts.gifts(filtersOf(options)));
        const csv = toCsv(
          columns,
          gifts.map((gift) => columns.map((name) => cellOf(gift[name]))),
        );
        if (options.out === undefined) return out.answer(gifts, () => csv);
        writePrivate(options.out, csv);
        out.answer({ gifts: gifts.length, file: options.out }, () => `${gifts.length} gifts are in ${options.out}.`);
      }),
    );

const cellOf = (value: Gift[keyof Gift]) => (typeof value === 'boolean' ? String(value) : value);

function requireFree(file: string | undefined, force: boolean | undefined): void {
  if (file !== undefined && !force && existsSync(file))
    throw usage(`${file} exists already. Add --force to replace it.`);
}

const readAll = <T>(items: AsyncIterable<T>): Promise<T[]> => take(items, { limit: 0, all: true });

interface CardOptions extends GiftFilterOptions {
  readonly pdf: string;
  readonly force?: boolean;
  readonly from?: string;
  readonly paper: Paper;
}

/** The berry of the claim page. */
const DEFAULT_COLOR = '#a11d4a';
const MAX_CARDS = 20_000;

const cardsCommand = () =>
  withFilters(group('cards', 'print gifts as cards with QR codes, ten on a page'))
    .requiredOption('--pdf <file>', 'the file to write')
    .option('--from <csv>', 'codes and links of an import, instead of active gifts that can be redeemed')
    .addOption(choice('--paper <size>', 'paper', ['a4', 'letter']).default('a4'))
    .option('-f, --force', 'replace the file')
    .action(
      action<CardOptions>(async (context, options) => {
        const { svc, out } = context;
        requireFree(options.pdf, options.force);
        const cards = options.from === undefined ? await cardsOfGifts(context, options) : cardsOfFile(options.from);
        if (cards.length === 0) throw usage('There is no such gift to print. svc gifts lists what there is.');
        if (cards.length > MAX_CARDS)
          throw usage(`These are ${cards.length} cards, and ${MAX_CARDS} fit. Use --campaign.`);
        const [branding, { name }] = await Promise.all([svc.settings.getBranding(), svc.getOrganization()]);
        const { cardsPdf } = await import('../cards.ts');
        const bar = out.progress('Drawing cards', cards.length);
        const style = {
          brand: branding.name ?? name,
          color: branding.color ?? DEFAULT_COLOR,
          textColor: branding.textColor ?? '#ffffff',
          paper: options.paper,
        };
        const pdf = await cardsPdf(cards, style, () => bar.advance(1));
        bar.end(`${cards.length} cards`);
        writePrivate(options.pdf, pdf);
        const text = `${cards.length} cards are in ${options.pdf}. Anyone who has a card can redeem it.`;
        out.answer({ cards: cards.length, file: options.pdf }, () => text);
      }),
    );

async function cardsOfGifts(context: Context, options: CardOptions): Promise<Card[]> {
  const gifts = await readAll(context.svc.gifts.gifts({ ...filtersOf(options), isActive: true }));
  return gifts
    .filter(({ totalRedeems, maxRedeems, claimUrl }) => totalRedeems < maxRedeems && claimUrl !== '')
    .map(({ name, amount, code, claimUrl }) => ({ name, amount, code, claimUrl }));
}

function cardsOfFile(file: string): Card[] {
  const { columns: found, rows } = readTable(file);
  const { code, amount, email } = findGiftColumns(found);
  const link = found.find((one) => /url|link/i.test(one));
  if (code === undefined || link === undefined || amount === undefined) {
    throw usage(`${file} needs the columns code, claimUrl and amount, as svc gifts import writes them.`);
  }
  const name = found.find((one) => /^name$/i.test(one)) ?? email;
  return rows.map(({ values: row }) => ({
    name: (name && row[name]) || '',
    amount: row[amount] ?? '',
    code: row[code] ?? '',
    claimUrl: row[link] ?? '',
  }));
}
