import { Select } from '@base-ui/react/select';
import { Switch } from '@base-ui/react/switch';
import { Check, ChevronsUpDown, Search, X } from 'lucide-react';
import {
  type InputHTMLAttributes,
  type ReactNode,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { useWords } from './language.ts';
import { words } from './words.ts';

interface Labelled {
  label: string;
  /** Below the field. */
  hint?: ReactNode;
  error?: string | undefined;
  optional?: boolean;
}

type Common = Labelled & { value: string; onChange: (value: string) => void };
type Without<T> = Omit<T, 'value' | 'onChange' | 'className' | 'prefix'>;

function Frame({ id, label, hint, error, optional, children }: Labelled & { id: string; children: ReactNode }) {
  const text = useWords(words);
  return (
    <div className="field">
      <label htmlFor={id} id={`${id}-label`}>
        {label} {optional && <span className="soft field-optional">({text.optional})</span>}
      </label>
      {children}
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <div className="field-hint soft" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}

const described = (id: string, { hint, error }: Pick<Labelled, 'hint' | 'error'>) => ({
  'aria-invalid': error ? (true as const) : undefined,
  'aria-describedby': [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined,
});

export interface TextFieldProps extends Common, Without<InputHTMLAttributes<HTMLInputElement>> {
  /** Before and after the text, such as a unit. */
  before?: ReactNode;
  after?: ReactNode;
  mono?: boolean;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, optional, value, onChange, before, after, mono, ...rest } = props;
  const id = useId();
  return (
    <Frame id={id} {...{ label, hint, optional: optional ?? false, error }}>
      <div className="input-frame">
        {before && <span className="soft">{before}</span>}
        <input
          {...rest}
          {...described(id, { hint, error })}
          id={id}
          className={mono ? 'input mono' : 'input'}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
        {after && <span className="soft">{after}</span>}
      </div>
    </Frame>
  );
}

export interface TextAreaFieldProps extends Common, Without<TextareaHTMLAttributes<HTMLTextAreaElement>> {
  mono?: boolean;
}

export function TextAreaField(props: TextAreaFieldProps) {
  const { label, hint, error, optional, value, onChange, mono, ...rest } = props;
  const id = useId();
  return (
    <Frame id={id} {...{ label, hint, optional: optional ?? false, error }}>
      <textarea
        rows={4}
        {...rest}
        {...described(id, { hint, error })}
        id={id}
        className={mono ? 'area mono' : 'area'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Frame>
  );
}

export interface SelectFieldProps<T extends string> extends Labelled {
  value: T;
  onChange: (value: T) => void;
  options: readonly (readonly [value: T, label: string])[];
  disabled?: boolean;
  /** The label is for screen readers alone: for filters in a row. */
  hideLabel?: boolean;
}

export function SelectField<T extends string>(props: SelectFieldProps<T>) {
  const { label, hint, error, value, onChange, options, disabled = false, hideLabel = false, optional } = props;
  const id = useId();
  const items = options.map(([option, name]) => ({ value: option, label: name }));
  return (
    <div className="field">
      <Select.Root
        id={id}
        items={items}
        value={value}
        disabled={disabled}
        onValueChange={(next) => next !== null && onChange(next as T)}
      >
        <Select.Label className={hideLabel ? 'hidden' : 'field-label'}>{label}</Select.Label>
        <Select.Trigger className="select" {...described(id, { hint, error })}>
          <Select.Value className="grow" />
          <Select.Icon className="soft">
            <ChevronsUpDown size={14} aria-hidden />
          </Select.Icon>
        </Select.Trigger>
        <Select.Portal>
          <Select.Positioner className="float" alignItemWithTrigger={false} sideOffset={4}>
            <Select.Popup className="menu">
              <Select.List>
                {items.map((item) => (
                  <Select.Item key={item.value} value={item.value} className="menu-item">
                    <Select.ItemText className="grow">{item.label}</Select.ItemText>
                    <Select.ItemIndicator>
                      <Check size={16} aria-hidden />
                    </Select.ItemIndicator>
                  </Select.Item>
                ))}
              </Select.List>
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
      {error && (
        <p className="field-error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {hint && !optional && (
        <div className="field-hint soft" id={`${id}-hint`}>
          {hint}
        </div>
      )}
    </div>
  );
}

export interface SwitchFieldProps {
  label: string;
  hint?: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
  /** The label is for screen readers alone: for columns of a table. */
  hideLabel?: boolean;
}

export function SwitchField(props: SwitchFieldProps) {
  const { label, hint, checked, onChange, disabled = false, hideLabel = false } = props;
  const id = useId();
  return (
    <div className="switch-field">
      <Switch.Root
        id={id}
        className="switch"
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-labelledby={`${id}-label`}
        aria-describedby={hint ? `${id}-hint` : undefined}
      >
        <Switch.Thumb className="switch-thumb" />
      </Switch.Root>
      <div>
        <label id={`${id}-label`} htmlFor={id} className={hideLabel ? 'hidden' : undefined}>
          {label}
        </label>
        {hint && (
          <div id={`${id}-hint`} className="field-hint soft">
            {hint}
          </div>
        )}
      </div>
    </div>
  );
}

export interface CheckboxFieldProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

export function CheckboxField({ label, checked, onChange, disabled = false }: CheckboxFieldProps) {
  return (
    <label className="checkbox">
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}

export interface SearchFieldProps {
  label: string;
  value: string;
  /** Called once the typing pauses. */
  onChange: (value: string) => void;
  placeholder?: string;
}

const TYPING_MS = 250;

export function SearchField({ label, value, onChange, placeholder }: SearchFieldProps) {
  const own = useWords(words);
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => setText(value), [value]);
  const change = (next: string, waitMs: number) => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => latest.current(next), waitMs);
  };
  return (
    <div className="input-frame search">
      <Search size={16} aria-hidden className="soft" />
      <input
        type="search"
        className="input"
        aria-label={label}
        placeholder={placeholder ?? label}
        value={text}
        onChange={(event) => change(event.target.value, TYPING_MS)}
      />
      {text !== '' && (
        <button type="button" className="button quiet s square" aria-label={own.clear} onClick={() => change('', 0)}>
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}
