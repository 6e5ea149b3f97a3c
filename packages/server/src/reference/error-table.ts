import { catalogue, type ErrorCode } from '@svc/protocol';
import { breakable, type Html, html } from './html.ts';
import { inline } from './markdown.ts';
import type { OperationError } from './operations.ts';

const errorAnchor = (code: string): string => `error-${code}`;

/** A code of the catalogue as a link to its row there. */
export const errorLink = (code: ErrorCode): Html =>
  html`<a href="#${errorAnchor(code)}"><code>${breakable(code)}</code></a>`;

/** What one operation can answer, folded away because most of it is the same everywhere. */
export function operationErrors(label: string, errors: readonly OperationError[]): Html {
  if (errors.length === 0) return html``;
  const statuses = [...new Set(errors.map((error) => error.status))];
  const rows = errors.map(({ status, code, meaning }) => {
    const name = code in catalogue ? html`<a href="#${errorAnchor(code)}">${breakable(code)}</a>` : breakable(code);
    return html`<tr>${cells(name, status, meaning)}</tr>\n`;
  });
  return html`<details class="errors"><summary>Errors <span class="note">${statuses.join(', ')}</span></summary>
${errorTable(label, rows)}</details>
`;
}

/** Every error of the interface. */
export function errorCatalogue(): Html {
  const rows = Object.entries(catalogue).map(
    ([code, { status, message }]) =>
      html`<tr id="${errorAnchor(code)}">${cells(breakable(code), status, message)}</tr>\n`,
  );
  return errorTable('Every error', rows);
}

const cells = (name: Html, status: string | number, meaning: string): Html =>
  html`<th scope="row"><code>${name}</code><span class="note">${status}</span></th><td>${inline(meaning)}</td>`;

const errorTable = (label: string, rows: readonly Html[]): Html =>
  html`<div class="scroll"><table class="fields" aria-label="${label}">
<thead><tr><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody></table></div>
`;
