import { describe, expect, it } from 'vitest';
import { webhookDisabledMail } from './notices.ts';
import { fillTemplate } from './templates.ts';

const content = { webhookId: 'whk_1', host: 'hooks.example:8443', failingSince: '2026-11-16T10:02:03.000Z' };

describe('a mail about a webhook that was switched off', () => {
  it('says in Spanish and English, in both parts, which one, since when, and what to do', () => {
    const { subject, text, html } = webhookDisabledMail(content);
    expect(subject).toBe('Un webhook fue desactivado: hooks.example:8443 / A webhook was switched off');
    for (const part of [text, html]) {
      for (const said of ['desactivado', 'switched off', 'whk_1', '2026-11-16 10:02 UTC', 'isEnabled', 'replay']) {
        expect(part).toContain(said);
      }
    }
  });

  it('loads nothing and shows a hostile host as text', () => {
    const { subject, html } = webhookDisabledMail({
      ...content,
      host: '<script>alert(1)</script>\r\nBcc: eva@example.com',
    });
    expect(html).not.toMatch(/<(script|img|link|iframe)\b|\ssrc=|url\(/i);
    expect(subject).not.toMatch(/\p{Cc}/u);
  });

  it('is known by its name', () => {
    expect(fillTemplate('webhook-disabled', content)).toEqual(webhookDisabledMail(content));
  });
});
