import { catalogue } from '@svc/protocol';
import { type Html, html } from '../util/text.ts';
import { curlBox, errorLink, inline, jsonBox, plannedBadge } from './components.ts';
import type { Operation } from './document.ts';

interface Topic {
  readonly id: string;
  readonly title: string;
  readonly render: (baseUrl: string) => Html;
}

const rootOf = (baseUrl: string): string => baseUrl.replace(/\/v1$/, '');

export const topics: readonly Topic[] = [
  { id: 'base-address', title: 'Base address', render: baseAddress },
  { id: 'first-request', title: 'First request', render: firstRequest },
  { id: 'authentication', title: 'Authentication', render: authentication },
  { id: 'environments', title: 'Environments', render: environments },
  { id: 'user-tokens', title: 'User tokens', render: userTokens },
  { id: 'idempotency', title: 'Idempotency keys', render: idempotency },
  { id: 'rate-limit', title: 'Rate limit', render: rateLimit },
  { id: 'error-body', title: 'Error body', render: errorBody },
  { id: 'pagination', title: 'Pagination', render: pagination },
];

export function introduction(
  info: { readonly title: string; readonly description?: string },
  baseUrl: string,
  operations: readonly Operation[],
): Html {
  const sections = topics.map(
    ({ id, title, render }) => html`<section class="topic" id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a href="#${id}">${title}</a></h3>
${render(baseUrl)}</section>
`,
  );
  return html`<h1>${info.title} reference</h1>
<p class="lead">${inline(info.description ?? '')} A service that you run yourself, and that your app talks to in JSON over HTTP.</p>
<section class="intro" id="introduction" aria-labelledby="introduction-title">
<h2 id="introduction-title">Introduction</h2>
<p>svc keeps wallets whose keys only their owners can use, pays the gas for what they sign, records transfers and purchases that happened
on the chain, sells services from a catalogue, converts amounts to USD, and turns your organisation’s credits into gift codes.</p>
${
  operations.some(({ planned }) => planned) &&
  html`<p>Operations marked ${plannedBadge} are part of the interface and answer 501 ${errorLink('not_implemented')} until they are built.</p>
`
}${sections}</section>
`;
}

function baseAddress(baseUrl: string): Html {
  return html`<p class="address"><code>${baseUrl}</code></p>
<p>Every path on this page follows this address. Bodies are JSON (<code>application/json</code>) of at most 1 MiB, timestamps are
ISO 8601, and unknown query parameters are ignored.</p>
<p>The same description for machines, in OpenAPI 3.1: <a href="${new URL(baseUrl).pathname}/openapi.json"><code>openapi.json</code></a>.</p>
`;
}

function firstRequest(baseUrl: string): Html {
  const command = `curl '${baseUrl}/skus?limit=3' \\\n  -H "x-api-key: $PUBLIC_KEY" \\\n  -H "Authorization: Bearer $SECRET_KEY"`;
  return html`<p>Take the two keys of your organisation, <code>publicKey</code> and <code>secretKey</code>. A service that was started with
<code>npm start</code> keeps them for development in <code>.svc/credentials.json</code>. Every example on this page reads them from the
variables <code>PUBLIC_KEY</code> and <code>SECRET_KEY</code>.</p>
${curlBox('The first three services of the catalogue', command)}`;
}

function authentication(): Html {
  return html`<div class="scroll"><table aria-label="The two headers">
<thead><tr><th scope="col">Header</th><th scope="col">Holds</th></tr></thead>
<tbody>
<tr><th scope="row"><code>x-api-key</code></th><td>Your <strong>public key</strong>. It names your application and is safe to share.</td></tr>
<tr><th scope="row"><code>Authorization</code></th><td><code>Bearer</code> and, on your server, your <strong>secret key</strong>; in an app, the
<strong>token of the user</strong>. Never put the secret key into an app or under version control.</td></tr>
</tbody></table></div>
<p>Wallets, transactions, SKUs, purchases and exchanges want both headers, and both keys must belong to the same organisation and
environment. Managing gifts takes either one: the secret key as bearer or the public key, until your organisation switches on that it
needs the secret key. A user token never manages gifts. Claiming and redeeming a gift needs no credentials, the code is enough. Each
operation below says what it wants; what is missing or wrong is a 401.</p>
<p>What belongs to another organisation answers exactly as if it did not exist.</p>
`;
}

function environments(): Html {
  return html`<div class="scroll"><table aria-label="The two environments">
<thead><tr><th scope="col">Keys</th><th scope="col">Environment</th></tr></thead>
<tbody>
<tr><th scope="row"><code>pk_dev_…</code> <code>sk_dev_…</code></th><td><strong>Development</strong>, on the sandbox chain inside the service. Nothing
real moves.</td></tr>
<tr><th scope="row"><code>pk_prod_…</code> <code>sk_prod_…</code></th><td><strong>Production</strong>, on the live chains that this deployment is
configured for; for any other the answer is 400 ${errorLink('chain_not_configured')}.</td></tr>
</tbody></table></div>
<p>Each environment has its own keys, wallets, transactions, gifts and credits. Nothing of one can be seen with a key of the other.</p>
`;
}

function userTokens(baseUrl: string): Html {
  const command = `curl -X POST '${rootOf(baseUrl)}/sandbox/identity/token' \\\n  -H 'content-type: application/json' \\\n  -d '{"sub": "user-123"}'`;
  return html`<p>In an app, send the token of the signed-in user where a server sends the secret key. It is a JWT from your identity provider,
checked with the key set (JWKS) that your organisation names.</p>
<ul>
<li>It is signed with RS256, PS256, ES256, ES384 or EdDSA and must have <code>exp</code>. <code>nbf</code> is checked where present, <code>iss</code>
and <code>aud</code> where your organisation sets them. Clocks may differ by 5 seconds.</li>
<li>Its <code>sub</code>, or the claim that your organisation names instead, is the <code>externalUserId</code>.</li>
<li>It reaches only that user’s own wallets and their transactions. Another user’s wallet is a 404 as if it did not exist; creating or
changing for another user is 401 ${errorLink('other_user')}.</li>
</ul>
<p>Development needs no identity provider: while the sandbox is on, the service issues tokens for its development organisation itself.</p>
${curlBox('A token for user-123, answered as {"token": "…"}', command)}`;
}

function idempotency(): Html {
  return html`<p>Every POST takes the header <code>Idempotency-Key</code>, at most 255 characters of your choice, remembered for 24 hours. When you do
not know whether a request arrived, send it again with the same key.</p>
<ul>
<li>The same key and body answer what the first request answered, with <code>idempotency-replayed: true</code>.</li>
<li>The same key with another body is 400 ${errorLink('idempotency_key_reused')}.</li>
<li>While the first request is still running, the answer is 400 ${errorLink('idempotency_key_in_progress')}.</li>
</ul>
`;
}

function rateLimit(): Html {
  return html`<p>Each API key has a number of requests a minute: 100, unless this deployment sets another. Every answer to a request with a key
says where you stand in <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code>. Beyond the limit the
answer is 429 ${errorLink('rate_limited')}, and <code>Retry-After</code> says when to go on.</p>
<p>The claim endpoints take no key and count by client address: 100 requests and 10 unknown codes a minute.</p>
`;
}

function errorBody(): Html {
  return html`<p>Every error has the same body. <code>error</code> is a stable code for your program, <code>message</code> says what to do. The
codes are listed with each operation and <a href="#errors">all together</a>.</p>
${jsonBox('400', { error: 'wallet_ambiguous', message: catalogue.wallet_ambiguous.message })}<p>Every answer, good or bad, has an <code>x-request-id</code>. With it the operator finds the request in the log.</p>
`;
}

function pagination(): Html {
  return html`<p>Lists take <code>page</code> (from 1) and <code>limit</code> (10 unless you say otherwise; above 100 counts as 100) and answer an
envelope.</p>
${jsonBox('A page', { data: ['…'], total: 42, page: 1, limit: 10, totalPages: 5 })}`;
}
