import { describe, expect, it } from 'vitest';
import { parseLimit } from './commands/operator.ts';
import { formatDuration, parseDuration, parseSetting, showAmount } from './formats.ts';
import { clean, facts, table } from './output.ts';

describe('durations', () => {
  it.each([
    ['90', 90],
    ['15m', 900],
    ['1d12h', 129_600],
    ['2w', 1_209_600],
  ])('%s is %i seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds));

  it.each(['', 'soon', '5 m', '1x', '-5m', '1d12', '99999999999w'])('%j is none', (text) => {
    expect(() => parseDuration(text)).toThrow(/is no duration/);
  });

  it('are shown in their two largest units', () => {
    expect(formatDuration(93_784)).toBe('1 d 2 h');
    expect(formatDuration(-65)).toBe('-1 min 5 s');
    expect(formatDuration(0)).toBe('0 s');
  });
});

describe('settings', () => {
  it('have the type of their name; an empty value clears', () => {
    expect(parseSetting('jwksUrl=https://id.example/?a=b')).toEqual(['jwksUrl', 'https://id.example/?a=b']);
    expect(parseSetting('giftsNeedSecretKey=true')).toEqual(['giftsNeedSecretKey', true]);
    expect(parseSetting('publicKeyGiftsDailyUsd=12.5')).toEqual(['publicKeyGiftsDailyUsd', 12.5]);
    expect(parseSetting('notificationEmail=')).toEqual(['notificationEmail', null]);
  });

  it('are refused where the name or the value is not known', () => {
    expect(() => parseSetting('toString=1')).toThrow(/not a setting/);
    expect(() => parseSetting('giftsNeedSecretKey=maybe')).toThrow(/true or false/);
    expect(() => parseSetting('jwksUrl')).toThrow(/name=value/);
  });

  it('of sponsorship have numbers, amounts and lists', () => {
    expect(parseLimit('userDailyWallets=5')).toEqual(['userDailyWallets', 5]);
    expect(parseLimit('dailyStrk=2.5')).toEqual(['dailyStrk', '2.5']);
    expect(parseLimit('allowedEntrypoints=transfer, approve')).toEqual(['allowedEntrypoints', ['transfer', 'approve']]);
    expect(parseLimit('dailyStrk=')).toEqual(['dailyStrk', null]);
    expect(() => parseLimit('constructor=1')).toThrow(/is no limit/);
  });
});

describe('what people read', () => {
  it('shows amounts in whole tokens, exactly', () => {
    const tokens = [{ chain: 'STARKNET', token: 'STRK', decimals: 18 }];
    const amount = '9007199254740993000000000000000001';
    expect(showAmount({ amount, token: 'STRK', chain: 'STARKNET' }, tokens)).toBe(
      '9007199254740993.000000000000000001 STRK',
    );
    expect(showAmount({ amount: '5', token: 'OTHER', chain: 'STARKNET' }, tokens)).toBe('5 OTHER');
  });

  it('cannot be made to move the cursor or to hide text', () => {
    expect(clean('a\u001b[2Jb\nc\u202ed')).toBe('a [2Jb c d');
    expect(table([{ name: 'a\u001b[31m' }], [{ title: 'NAME', value: ({ name }) => name }])).not.toContain(
      '\u001b[31m',
    );
  });

  it('is aligned, with a dash where there is nothing', () => {
    const rows = [
      { name: 'a', count: 1 },
      { name: 'longer', count: 200 },
    ];
    const text = table(rows, [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'COUNT', value: ({ count }) => count, align: 'right' },
      { title: 'NOTE', value: () => null },
    ]);
    expect(text.split('\n').map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, ''))).toEqual([
      'NAME    COUNT  NOTE',
      'a           1  -',
      'longer    200  -',
    ]);
    expect(facts([['open', true]])).toMatch(/open.*yes/);
  });
});
