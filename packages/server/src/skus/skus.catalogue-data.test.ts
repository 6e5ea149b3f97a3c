import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Currency, currencies, type SkuCategory, skuCategories } from '@svc/protocol';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';

interface CatalogueSku {
  id: string;
  providerId: string;
  name: string;
  description: string;
  category: SkuCategory;
  referenceRegexValidation: string;
  referenceLabel: string;
  amountRegexValidation: string;
  amountLabel: string;
  fixedAmount?: number;
  currency: Currency;
  canCheckSkuReference: boolean;
  example: { reference: string; amount: string };
}

const file = path.join(import.meta.dirname, '../../catalogue/mexico.json');
const catalogue: { version: number; skus: CatalogueSku[] } = JSON.parse(readFileSync(file, 'utf8'));
const { skus } = catalogue;
const isFixed = (sku: CatalogueSku): sku is CatalogueSku & { fixedAmount: number } => sku.fixedAmount !== undefined;
const fixed = skus.filter(isFixed);
const variable = skus.filter((sku) => !isFixed(sku));

const MAX_PATTERN_CHARS = 256;
const MIN_SKUS = 60;
const MIN_SKUS_PER_CATEGORY = 3;
/** A SKU id is also a Cairo short string. */
const MAX_ID_CHARS = 31;

const TEXT_FIELDS = [
  'id',
  'providerId',
  'name',
  'description',
  'referenceRegexValidation',
  'referenceLabel',
  'amountRegexValidation',
  'amountLabel',
] as const;
const FIELDS = [...TEXT_FIELDS, 'category', 'currency', 'canCheckSkuReference', 'example'];

// `test` looks anywhere in the text, so that a pattern that lacks an anchor shows.
const accepts = (pattern: string, text: string) => RE2JS.compile(pattern).test(text);
const expectAccepted = (sku: CatalogueSku, pattern: string, text: string) =>
  expect(accepts(pattern, text), `${sku.id} should accept ${JSON.stringify(text)}`).toBe(true);
const expectRefused = (sku: CatalogueSku, pattern: string, text: string) =>
  expect(accepts(pattern, text), `${sku.id} should refuse ${JSON.stringify(text)}`).toBe(false);
/** The number as it stands in a JSON body. */
const centsAsJson = (cents: number) => JSON.stringify(Math.round(cents) / 100);

describe('the catalogue as a whole', () => {
  it('is of version 1', () => {
    expect(catalogue.version).toBe(1);
  });

  it('holds sixty services or more, at least three in every category', () => {
    expect(skus.length).toBeGreaterThanOrEqual(MIN_SKUS);
    for (const category of skuCategories) {
      const count = skus.filter((sku) => sku.category === category).length;
      expect(count, category).toBeGreaterThanOrEqual(MIN_SKUS_PER_CATEGORY);
    }
  });

  it('has fixed and variable amounts in both currencies', () => {
    for (const currency of currencies) {
      expect(fixed.some((sku) => sku.currency === currency)).toBe(true);
      expect(variable.some((sku) => sku.currency === currency)).toBe(true);
    }
  });

  it('has services whose reference can be checked and services whose reference cannot', () => {
    expect(new Set(skus.map((sku) => sku.canCheckSkuReference))).toEqual(new Set([true, false]));
  });

  it('names every service once, by id and by display name', () => {
    expect(new Set(skus.map((sku) => sku.id)).size).toBe(skus.length);
    expect(new Set(skus.map((sku) => sku.name)).size).toBe(skus.length);
  });
});

describe('every service', () => {
  it('has every required field, and no other', () => {
    for (const sku of skus) {
      const { fixedAmount, ...rest } = sku;
      expect(Object.keys(rest).toSorted(), sku.id).toEqual(FIELDS.toSorted());
      for (const field of TEXT_FIELDS) {
        expect(sku[field], `${sku.id} ${field}`).toMatch(/^\S(.*\S)?$/);
      }
      expect(skuCategories, sku.id).toContain(sku.category);
      expect(currencies, sku.id).toContain(sku.currency);
      expect(sku.canCheckSkuReference, sku.id).toBeTypeOf('boolean');
    }
  });

  it('has a kebab-case id that fits a short string', () => {
    for (const { id, providerId } of skus) {
      expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(id).toMatch(/[a-z]/);
      expect(id.length, id).toBeLessThanOrEqual(MAX_ID_CHARS);
      expect(providerId).toMatch(/^[a-z]+(-[a-z]+)*$/);
    }
  });

  it('has anchored patterns for the linear-time engine and for the pattern attribute of a form', () => {
    for (const { id, referenceRegexValidation, amountRegexValidation } of skus) {
      for (const pattern of [referenceRegexValidation, amountRegexValidation]) {
        expect(pattern.length, id).toBeLessThanOrEqual(MAX_PATTERN_CHARS);
        expect(pattern, id).toMatch(/^\^.*\$$/);
        expect(() => RE2JS.compile(pattern), id).not.toThrow();
        expect(() => new RegExp(pattern, 'v'), id).not.toThrow();
      }
    }
  });

  it('accepts its own example, and nothing around it', () => {
    for (const sku of skus) {
      const pairs = [
        [sku.referenceRegexValidation, sku.example.reference],
        [sku.amountRegexValidation, sku.example.amount],
      ] as const;
      for (const [pattern, text] of pairs) {
        expectAccepted(sku, pattern, text);
        for (const padded of [`<${text}`, `${text}<`, `${text}\n`, `\n${text}`, `${text}\n${text}`]) {
          expectRefused(sku, pattern, padded);
        }
      }
    }
  });

  it('has an example that the sandbox provider fulfils at once', () => {
    for (const { id, example } of skus) {
      expect(example.reference, id).not.toMatch(/(0000|1111)$/);
    }
  });

  it('refuses references that are empty, overlong or markup', () => {
    for (const sku of skus) {
      const overlong = [...'a1A', sku.example.reference].map((text) => text.repeat(200).slice(0, 200));
      for (const text of ['', ' ', '<script>', '<script>alert(1)</script>', ...overlong]) {
        expectRefused(sku, sku.referenceRegexValidation, text);
      }
    }
  });

  it('refuses amounts that are not a positive decimal of at most two places', () => {
    for (const sku of skus) {
      const { amount } = sku.example;
      const threeDecimals = `${Number(amount).toFixed(2)}0`;
      const refused = ['', ' ', '-1', '0', '0.00', '1e3', '1.234', '1,000', 'NaN', 'Infinity', threeDecimals];
      refused.push(`-${amount}`, `+${amount}`, `0${amount}`, ` ${amount}`, `$${amount}`, `${amount}e0`);
      for (const text of refused) {
        expectRefused(sku, sku.amountRegexValidation, text);
      }
    }
  });
});

describe('a fixed amount', () => {
  it('is the only amount that its pattern accepts, with or without trailing zeros', () => {
    for (const sku of fixed) {
      const cents = Math.round(sku.fixedAmount * 100);
      expect(sku.example.amount, sku.id).toBe(JSON.stringify(sku.fixedAmount));
      expectAccepted(sku, sku.amountRegexValidation, JSON.stringify(sku.fixedAmount));
      expectAccepted(sku, sku.amountRegexValidation, sku.fixedAmount.toFixed(2));
      const others = [
        cents - 1,
        cents + 1,
        cents + 10,
        cents - 100,
        cents + 100,
        cents + 100_000,
        cents * 10,
        cents / 10,
      ];
      for (const other of [...others, ...fixed.map(({ fixedAmount }) => fixedAmount * 100)]) {
        if (Math.round(other) === cents) continue;
        expectRefused(sku, sku.amountRegexValidation, centsAsJson(other));
        expectRefused(sku, sku.amountRegexValidation, (other / 100).toFixed(2));
      }
    }
  });
});

describe('a variable amount', () => {
  it('lies exactly within the limits that its label tells', () => {
    for (const sku of variable) {
      const limits = /, de ([\d,]+) a ([\d,]+)$/.exec(sku.amountLabel)?.slice(1) ?? [];
      const [min = 0, max = 0] = limits.map((text) => Number(text.replaceAll(',', '')) * 100);
      expect(min, sku.id).toBeGreaterThan(0);
      expect(max, sku.id).toBeGreaterThan(min);
      for (const inside of [min, min + 1, min * 2, (min + max) / 2, max - 100, max - 1, max]) {
        expectAccepted(sku, sku.amountRegexValidation, centsAsJson(inside));
      }
      for (const outside of [min - 1, min / 10, max + 1, max + 100, max * 10]) {
        expectRefused(sku, sku.amountRegexValidation, centsAsJson(outside));
      }
    }
  });
});
