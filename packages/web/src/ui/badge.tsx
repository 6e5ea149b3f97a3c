import { defineWords, useWords } from './language.ts';
import type { Tone } from './page.tsx';

const tones: Readonly<Record<string, Tone>> = {
  SUCCESS: 'good',
  DELIVERED: 'good',
  ACTIVE: 'good',
  REFUNDED: 'good',
  CONFIRMED: 'good',
  PENDING: 'info',
  PROCESSING: 'info',
  BRIDGING: 'info',
  ATTESTED: 'info',
  WAITING: 'info',
  REFUNDING: 'info',
  DUE: 'warn',
  FAILED: 'bad',
  REVERTED: 'bad',
  REJECTED: 'bad',
  REVOKED: 'bad',
  CANCELLED: 'plain',
  EXPIRED: 'plain',
  PAUSED: 'plain',
  INACTIVE: 'plain',
};

const words = defineWords({
  en: {
    SUCCESS: 'Succeeded',
    DELIVERED: 'Delivered',
    ACTIVE: 'Active',
    REFUNDED: 'Refunded',
    CONFIRMED: 'Confirmed',
    PENDING: 'Pending',
    PROCESSING: 'Processing',
    BRIDGING: 'Bridging',
    ATTESTED: 'Attested',
    WAITING: 'Waiting',
    REFUNDING: 'Refunding',
    DUE: 'Refund due',
    FAILED: 'Failed',
    REVERTED: 'Reverted',
    REJECTED: 'Rejected',
    REVOKED: 'Revoked',
    CANCELLED: 'Cancelled',
    EXPIRED: 'Expired',
    PAUSED: 'Paused',
    INACTIVE: 'Off',
    READY: 'Ready',
    EXECUTING: 'Executing',
    EXECUTED: 'Executed',
  },
  es: {
    SUCCESS: 'Completado',
    DELIVERED: 'Entregado',
    ACTIVE: 'Activo',
    REFUNDED: 'Reembolsado',
    CONFIRMED: 'Confirmado',
    PENDING: 'Pendiente',
    PROCESSING: 'En proceso',
    BRIDGING: 'Cruzando',
    ATTESTED: 'Atestiguado',
    WAITING: 'En espera',
    REFUNDING: 'Reembolsando',
    DUE: 'Reembolso debido',
    FAILED: 'Falló',
    REVERTED: 'Revertido',
    REJECTED: 'Rechazado',
    REVOKED: 'Revocado',
    CANCELLED: 'Cancelado',
    EXPIRED: 'Vencido',
    PAUSED: 'En pausa',
    INACTIVE: 'Apagado',
    READY: 'Lista',
    EXECUTING: 'Ejecutándose',
    EXECUTED: 'Ejecutada',
  },
});

/** For filters. */
export const useStatusNames = (): Readonly<Record<string, string>> => useWords(words);

export interface StatusBadgeProps {
  /** A status of the interface; unknown ones are shown as they are. */
  status: string;
  /** Another text than the usual one. */
  label?: string;
  tone?: Tone;
}

export function StatusBadge({ status, label, tone }: StatusBadgeProps) {
  const texts: Readonly<Record<string, string>> = useWords(words);
  return <span className={`badge ${tone ?? tones[status] ?? 'plain'}`}>{label ?? texts[status] ?? status}</span>;
}

/** A short word that is no status, such as a type. */
export function Badge({ children, tone = 'plain' }: { children: string; tone?: Tone }) {
  return <span className={`badge ${tone} flat`}>{children}</span>;
}
