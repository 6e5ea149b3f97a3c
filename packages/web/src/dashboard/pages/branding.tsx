import { type ColorScheme, colorScheme, parseColor } from '@svc/protocol';
import { ImageUp, Trash2 } from 'lucide-react';
import { type CSSProperties, useEffect, useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Card, ErrorNote, Note, PageHeader, Section, Skeleton } from '../../ui/page.tsx';
import { useToast } from '../../ui/toast.tsx';
import { type AnswerTo, useChange, useRead } from '../api.ts';
import { type Form, useForm } from '../form.ts';
import { useSession } from '../session.tsx';
import { words } from '../words/settings.ts';
import { words as shell } from '../words/shell.ts';
import { useWords } from '../words.ts';
import './branding.css';

const BRANDING = 'GET /organization/branding';
type Branding = AnswerTo<typeof BRANDING>;

export default function BrandingPage() {
  const text = useWords(words);
  const { data, error, refetch } = useRead(BRANDING);
  return (
    <>
      <PageHeader title={useWords(shell).pages.branding} description={text.branding.intro} />
      <ErrorNote error={error} retry={() => void refetch()} />
      {!data && !error && <Skeleton lines={8} />}
      {data && <BrandingForm key={data.updatedAt} branding={data} />}
    </>
  );
}

/** A chosen image, `removed`, or undefined: as it is stored. */
type Logo = { readonly base64: string; readonly url: string } | 'removed' | undefined;
interface Values {
  readonly [name: string]: unknown;
  readonly name: string;
  readonly color: string;
  readonly logo: Logo;
}

function BrandingForm({ branding }: { branding: Branding }) {
  const text = useWords(words);
  const session = useSession();
  const toast = useToast();
  const update = useChange('PATCH /organization/branding', { refreshes: [BRANDING] });
  const form = useForm<Values>({
    initial: { name: branding.name ?? '', color: branding.color ?? '', logo: undefined },
    check: ({ color }) => (color.trim() === '' || parseColor(color).ok ? {} : { color: text.branding.colorWrong }),
    onSubmit: async ({ name, color, logo }) => {
      await update.mutateAsync({
        body: {
          name: name.trim() || null,
          color: color.trim() || null,
          ...(logo !== undefined && { logo: logo === 'removed' ? null : logo.base64 }),
        },
      });
      toast.done(text.saved);
    },
  });
  const isOwner = session.can('OWNER');
  const { logo, name, color } = form.values;
  const logoUrl = logo === 'removed' ? null : (logo?.url ?? pathOf(branding.logoUrl));
  const parsed = parseColor(color);
  return (
    <div className="branding">
      <Card>
        <form className="form" onSubmit={form.onSubmit}>
          <TextField
            {...form.field('name')}
            label={text.branding.name}
            hint={text.branding.nameHint}
            maxLength={80}
            optional
            disabled={!isOwner}
          />
          <ColorField form={form} disabled={!isOwner} />
          <LogoField form={form} logoUrl={logoUrl} disabled={!isOwner} />
          <ErrorNote error={form.failure} />
          {isOwner ? (
            <div className="row">
              <Button type="submit" kind="primary" pending={form.pending}>
                {text.save}
              </Button>
            </div>
          ) : (
            <Note>{text.ownersOnly}</Note>
          )}
        </form>
      </Card>
      <Preview
        name={name.trim() || (session.organization?.name ?? '')}
        logoUrl={logoUrl}
        scheme={parsed.ok ? colorScheme(parsed.value) : undefined}
      />
    </div>
  );
}

/** The dashboard may be read under another name than PUBLIC_URL. */
const pathOf = (url: string | null): string | null => url && new URL(url).pathname;

function ColorField({ form, disabled }: { form: Form<Values>; disabled: boolean }) {
  const text = useWords(words);
  const parsed = parseColor(form.values.color);
  return (
    <TextField
      {...form.field('color')}
      label={text.branding.color}
      hint={text.branding.colorHint}
      placeholder="#a11d4a"
      maxLength={7}
      mono
      optional
      disabled={disabled}
      before={
        <input
          type="color"
          className="color-pick"
          aria-label={text.branding.pick}
          value={parsed.ok ? parsed.value : '#a11d4a'}
          onChange={(event) => form.set({ color: event.target.value })}
          disabled={disabled}
        />
      }
    />
  );
}

const MAX_LOGO_BYTES = 128 * 1024;
const TYPES = ['image/png', 'image/jpeg', 'image/webp'];

interface LogoFieldProps {
  form: Form<Values>;
  logoUrl: string | null;
  disabled: boolean;
}

function LogoField({ form, logoUrl, disabled }: LogoFieldProps) {
  const text = useWords(words);
  const id = useId();
  const [error, setError] = useState<string>();
  const { logo } = form.values;
  const own = typeof logo === 'object' ? logo.url : undefined;
  useEffect(() => () => (own ? URL.revokeObjectURL(own) : undefined), [own]);
  const choose = async (file: File | undefined) => {
    if (!file) return;
    if (!TYPES.includes(file.type) || file.size > MAX_LOGO_BYTES) return setError(text.branding.logoWrong);
    setError(undefined);
    form.set({ logo: { base64: await base64Of(file), url: URL.createObjectURL(file) } });
  };
  return (
    <div className="field">
      <label htmlFor={id}>{text.branding.logo}</label>
      <div className="logo-field">
        {logoUrl && <img src={logoUrl} alt={text.branding.logoAlt} className="logo-shown" />}
        <label className="button plain m logo-choose" data-disabled={disabled || undefined}>
          <ImageUp size={16} aria-hidden />
          {text.branding.choose}
          <input
            id={id}
            type="file"
            accept={TYPES.join(',')}
            className="hidden"
            disabled={disabled}
            aria-describedby={`${id}-hint`}
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        </label>
        {logoUrl && !disabled && (
          <Button kind="quiet" icon={Trash2} onClick={() => form.set({ logo: 'removed' })}>
            {text.branding.remove}
          </Button>
        )}
      </div>
      {error && (
        <p className="field-error" role="alert">
          {error}
        </p>
      )}
      <div id={`${id}-hint`} className="field-hint soft">
        {text.branding.logoHint}
      </div>
    </div>
  );
}

async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

interface PreviewProps {
  name: string;
  logoUrl: string | null;
  scheme: ColorScheme | undefined;
}

/** The colours of the claim page and the mails where none is chosen. */
const defaults = {
  page: { color: 'light-dark(#a11d4a, #ff9dbb)', textColor: 'light-dark(#ffffff, #3a0418)' },
  mail: { color: '#a11d4a', textColor: '#ffffff' },
};

function Preview({ name, logoUrl, scheme }: PreviewProps) {
  const text = useWords(words);
  const page = scheme ?? defaults.page;
  const mail = scheme ?? defaults.mail;
  const accent = scheme ? `light-dark(${scheme.lightAccent}, ${scheme.darkAccent})` : defaults.page.color;
  return (
    <Section title={text.branding.preview}>
      <figure className="preview" style={styleOf(page.color, page.textColor, accent)}>
        <figcaption className="soft">{text.branding.claimPage}</figcaption>
        <div className="preview-page">
          {logoUrl && <img src={logoUrl} alt={name} className="preview-logo" />}
          <p className="preview-title">{text.branding.gift}</p>
          <div className="preview-gift">
            <p className="preview-amount">{text.branding.amount}</p>
            <p>{text.branding.from(name)}</p>
            <p className="soft">{text.branding.giftName}</p>
          </div>
          <span className="preview-button">{text.branding.button}</span>
          <span className="preview-link">{text.branding.link}</span>
        </div>
      </figure>
      <figure className="preview" style={styleOf(mail.color, mail.textColor, scheme ? mail.color : '#e8e3dd')}>
        <figcaption className="soft">{text.branding.mail}</figcaption>
        <div className="preview-mail">
          <p className="preview-subject">{text.branding.subject(name)}</p>
          <div className="preview-letter">
            {logoUrl && <img src={logoUrl} alt={name} className="preview-logo" />}
            <p className="preview-title">{text.branding.gift}</p>
            <p>
              <strong>{name}</strong> {text.branding.sentYou}
            </p>
            <p className="preview-amount">{text.branding.amount}</p>
            <span className="preview-button">{text.branding.button}</span>
          </div>
        </div>
      </figure>
    </Section>
  );
}

const styleOf = (color: string, textColor: string, accent: string) =>
  ({ '--brand': color, '--on-brand': textColor, '--brand-accent': accent }) as CSSProperties;
