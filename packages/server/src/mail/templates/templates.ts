import { type GiftContent, giftMail } from './gift.ts';

/** What every template is filled with, by its name. */
export interface TemplateContent {
  readonly gift: GiftContent;
}
export type TemplateName = keyof TemplateContent;

export interface FilledTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const templates: { readonly [T in TemplateName]: (content: TemplateContent[T]) => FilledTemplate } = {
  gift: giftMail,
};

/** Fills a template with what was stored for it. */
export function fillTemplate(name: string, content: unknown): FilledTemplate {
  if (!Object.hasOwn(templates, name)) throw new Error(`There is no template ${name}.`);
  return templates[name as TemplateName](content as TemplateContent[TemplateName]);
}
