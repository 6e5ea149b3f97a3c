import type { Brand } from '@svc/protocol';
import { type GiftContent, giftMail } from './gift.ts';
import type { FilledTemplate } from './layout.ts';
import {
  type MailsPausedContent,
  mailsPausedMail,
  type TreasuryProposalContent,
  treasuryProposalMail,
  type WebhookDisabledContent,
  webhookDisabledMail,
} from './notices.ts';
import { type PurchaseContent, purchaseMail } from './purchase.ts';
import { type InvitationContent, invitationMail, type SignInContent, signInMail } from './sign-in.ts';

export interface TemplateContent {
  readonly gift: GiftContent;
  readonly 'purchase-completed': PurchaseContent;
  readonly 'purchase-failed': PurchaseContent;
  readonly 'purchase-cancelled': PurchaseContent;
  readonly 'webhook-disabled': WebhookDisabledContent;
  readonly 'mails-paused': MailsPausedContent;
  readonly 'sign-in': SignInContent;
  readonly invitation: InvitationContent;
  readonly 'treasury-proposal': TreasuryProposalContent;
}
export type TemplateName = keyof TemplateContent;

const templates: { readonly [T in TemplateName]: (content: TemplateContent[T], brand?: Brand) => FilledTemplate } = {
  gift: giftMail,
  'purchase-completed': purchaseMail('completed'),
  'purchase-failed': purchaseMail('failed'),
  'purchase-cancelled': purchaseMail('cancelled'),
  'webhook-disabled': webhookDisabledMail,
  'mails-paused': mailsPausedMail,
  'sign-in': signInMail,
  invitation: invitationMail,
  'treasury-proposal': treasuryProposalMail,
};

export function fillTemplate(name: string, content: unknown, brand?: Brand): FilledTemplate {
  if (!Object.hasOwn(templates, name)) throw new Error(`There is no template ${name}.`);
  const fill = templates[name as TemplateName] as (content: unknown, brand?: Brand) => FilledTemplate;
  return fill(content, brand);
}
