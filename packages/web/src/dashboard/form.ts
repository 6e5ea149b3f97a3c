import { type SubmitEvent, useState } from 'react';
import { ApiFailure } from './request.ts';

type Values = Readonly<Record<string, unknown>>;
type Errors = Readonly<Record<string, string | undefined>>;

export interface FormOptions<T extends Values> {
  readonly initial: T;
  /** Messages by field, before anything is sent. */
  readonly check?: (values: T) => { readonly [K in keyof T & string]?: string };
  readonly onSubmit: (values: T) => Promise<unknown>;
}

export interface Form<T extends Values> {
  readonly values: T;
  /** By field: of `check`, or of the service where its message names the field. */
  readonly errors: Errors;
  /** What the service said about no field in particular. */
  readonly failure: ApiFailure | undefined;
  readonly pending: boolean;
  /** The properties of a text, select or switch field. */
  field<K extends keyof T & string>(
    name: K,
  ): { value: T[K]; onChange: (value: T[K]) => void; error: string | undefined; name: K };
  set(changes: Partial<T>): void;
  reset(): void;
  readonly onSubmit: (event: SubmitEvent) => void;
}

/** Values, errors and the state of a form. */
export function useForm<T extends Values>({ initial, check, onSubmit }: FormOptions<T>): Form<T> {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Errors>({});
  const [failure, setFailure] = useState<ApiFailure>();
  const [pending, setPending] = useState(false);

  const set = (changes: Partial<T>) => {
    setValues((before) => ({ ...before, ...changes }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([name]) => !(name in changes))));
  };

  const change = <K extends keyof T & string>(name: K, value: T[K]) => {
    setValues((before) => ({ ...before, [name]: value }));
    setErrors((before) => ({ ...before, [name]: undefined }));
  };

  const submit = async () => {
    const wrong = check?.(values) ?? {};
    setErrors(wrong);
    setFailure(undefined);
    if (Object.keys(wrong).length > 0) return;
    setPending(true);
    try {
      await onSubmit(values);
    } catch (error) {
      const failed = toFailure(error);
      const name = Object.keys(values).find((key) => failed.message.startsWith(`body.${key} `));
      if (name) setErrors({ [name]: failed.message.replace('body.', '') });
      else setFailure(failed);
    } finally {
      setPending(false);
    }
  };

  return {
    values,
    errors,
    failure,
    pending,
    field: (name) => ({
      name,
      value: values[name],
      onChange: (value) => change(name, value),
      error: errors[name],
    }),
    set,
    reset: () => {
      setValues(initial);
      setErrors({});
      setFailure(undefined);
    },
    onSubmit: (event) => {
      event.preventDefault();
      void submit();
    },
  };
}

const toFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure
    ? error
    : new ApiFailure('internal_error', error instanceof Error ? error.message : String(error), 0);
