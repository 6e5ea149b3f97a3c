import type { Letter } from '../src/mail/mailers.ts';
import { type GiftContent, giftMail } from '../src/mail/templates/gift.ts';

export const content: GiftContent = {
  code: 'ABCDEFGH',
  name: 'Premio de verano',
  amountUsd: '25.5',
  claimUrl: 'https://pay.example.com/claim/ABCDEFGH',
  orgName: 'Tienda Azul',
};

export function letter(change: Partial<Letter> = {}): Letter {
  const head = { id: 'mail_1', date: new Date('2026-03-04T05:06:07Z'), recipient: 'ana@example.com' };
  return { ...head, ...giftMail(content), ...change };
}
