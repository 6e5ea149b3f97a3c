import { createHash } from 'node:crypto';

/**
 * The Content-Security-Policy of the page: its own style and nothing else, no script, no request, no frame, no form.
 * `data:` images are for the empty icon, which keeps browsers from asking for one.
 */
export function referenceCsp(page: string): string {
  const style = page.slice(page.indexOf('<style>') + '<style>'.length, page.indexOf('</style>'));
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
