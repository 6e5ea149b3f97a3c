import type { Security } from './document.ts';
import { type Html, html, join } from './html.ts';

const schemes: Readonly<Record<string, { header: string; value: string }>> = {
  publicKey: { header: 'x-api-key', value: 'public key' },
  bearer: { header: 'Bearer', value: 'secret key or user token' },
  secretKey: { header: 'Bearer', value: 'secret key' },
};

/** Which credentials an operation wants, in words. */
export function credentialsOf(security: Security): Html {
  if (security.length === 0) return html`No credentials`;
  return join(
    security.map((alternative) => join(Object.keys(alternative).map(credential), ' and ')),
    ' or ',
  );
}

function credential(scheme: string): Html {
  const { header, value } = schemes[scheme] ?? { header: scheme, value: '' };
  return html`<span class="credential"><code>${header}</code> ${value}</span>`;
}
