import { type Parsed, parsed, unparsed } from '@svc/protocol';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte instead of STARTTLS. */
  readonly secure: boolean;
  /** Refuses servers without TLS. */
  readonly requireTls: boolean;
  readonly login: { readonly user: string; readonly password: string } | undefined;
}

export interface Sender {
  readonly name: string;
  readonly address: string;
}

export interface MailSettings {
  readonly smtp: SmtpServer | undefined;
  readonly sender: Sender;
}

export const SANDBOX_SENDER: Sender = { name: 'svc', address: 'no-reply@svc.invalid' };

const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;
/** Safe in a header and an SMTP command. */
const ADDRESS = /^[^\s<>()[\]",:;@\\]+@[^\s<>()[\]",:;@\\]+$/;
const MAX_ADDRESS_LENGTH = 254;
const MAX_NAME_LENGTH = 200;

/** `smtp://user:password@host:port` or `smtps://…`. `?tls=optional` lets mail pass in the clear. */
export function parseSmtpUrl(text: string): Parsed<SmtpServer> {
  const form = 'must be an address such as smtp://user:password@mail.example.com:587, or with smtps://';
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    return unparsed(form);
  }
  if (!['', '/'].includes(url.pathname) || url.hash !== '') return unparsed(form);
  if (!['', '?tls=optional'].includes(url.search)) return unparsed('takes no option but ?tls=optional');
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === undefined || password === undefined) return unparsed('must spell a % of its password as %25');
  if ((user === '') !== (password === '')) return unparsed('must have a user and a password, or neither');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return parsed({
    host,
    port: url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port),
    secure: url.protocol === 'smtps:',
    requireTls: url.search === '' && !LOOPBACK.test(host),
    login: user === '' ? undefined : { user, password },
  });
}

/** `gifts@example.com` or `Tienda Azul <gifts@example.com>`. */
export function parseSender(text: string): Parsed<Sender> {
  const { name = '', address = text } = /^(?<name>[^<>]*)<(?<address>[^<>]*)>$/.exec(text)?.groups ?? {};
  const plain = name.trim().replace(/^"(.*)"$/, '$1');
  const fits = plain.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(plain);
  if (fits && address.length <= MAX_ADDRESS_LENGTH && ADDRESS.test(address)) return parsed({ name: plain, address });
  return unparsed('must be an address such as gifts@example.com or Tienda Azul <gifts@example.com>');
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
