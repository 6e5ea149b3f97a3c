/** Of this script: `…/sandbox/explorer/assets/name.js`, below any path prefix of a proxy. */
const script = import.meta.url;

/** `/sandbox/explorer`, with the prefix. */
export const basePath: string = new URL('..', script).pathname.replace(/\/$/, '');

export const apiUrl: string = new URL('../api', script).href;
/** What else the service serves, such as `dashboard/`. */
export const serviceUrl = (path: string): string => new URL(`../../../${path}`, script).pathname;
