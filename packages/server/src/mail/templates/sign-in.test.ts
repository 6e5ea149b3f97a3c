import { describe, expect, it } from 'vitest';
import { invitationMail, signInMail } from './sign-in.ts';
import { fillTemplate } from './templates.ts';

const url = 'https://svc.example/dashboard/sign-in/token';
const content = { url, host: 'svc.example' };
const invitation = { ...content, orgName: 'Tienda Azul', invitedBy: 'ana@tienda.example' };

describe('a mail with a link to sign in', () => {
  it('says in Spanish and English, in both parts, what the link does and for how long', () => {
    for (const part of [signInMail(content).text, signInMail(content).html]) {
      for (const said of [url, 'Entrar a svc.example', 'Sign in to svc.example', '15 minutos', '15 minutes']) {
        expect(part).toContain(said);
      }
    }
  });

  it('of an invitation names the organisation and who invited', () => {
    for (const part of [invitationMail(invitation).text, invitationMail(invitation).html]) {
      for (const said of [
        url,
        'Te invitaron a Tienda Azul',
        'invited to Tienda Azul',
        invitation.invitedBy,
        '7 days',
      ]) {
        expect(part).toContain(said);
      }
    }
  });

  it('loads nothing, and shows a hostile name as text without links', () => {
    const { subject, html, text } = invitationMail({
      ...invitation,
      orgName: '<script>alert(1)</script>\r\nBcc: eva@example.com https://evil.example',
    });
    expect(html).not.toMatch(/<(script|img|link|iframe)\b|\ssrc=|url\(/i);
    expect(subject).not.toMatch(/\p{Cc}/u);
    expect(text).not.toContain('https://evil.example');
  });

  it('is known by its name', () => {
    expect(fillTemplate('sign-in', content)).toEqual(signInMail(content));
    expect(fillTemplate('invitation', invitation)).toEqual(invitationMail(invitation));
  });
});
