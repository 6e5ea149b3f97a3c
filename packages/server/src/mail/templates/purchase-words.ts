/** How a purchase can end. */
export type PurchaseEnd = 'completed' | 'failed' | 'cancelled';

interface Words {
  readonly language: string;
  readonly titles: Readonly<Record<PurchaseEnd, string>>;
  readonly service: string;
  readonly reference: string;
  readonly amount: string;
  readonly fileNumber: string;
  readonly reason: string;
  readonly purchase: string;
  readonly refund: string;
  /** What becomes of the payment. */
  readonly refundDue: string;
  /** By how it ended; nothing is said of one that was delivered. */
  readonly notDue: Readonly<Record<Exclude<PurchaseEnd, 'completed'>, string>>;
}

/** The reader's language is not known, so the mail is written in both. */
export const languages: readonly Words[] = [
  {
    language: 'es',
    titles: { completed: 'Compra entregada', failed: 'La compra falló', cancelled: 'Compra cancelada' },
    service: 'Servicio',
    reference: 'Referencia',
    amount: 'Importe',
    fileNumber: 'Folio',
    reason: 'Motivo',
    purchase: 'Compra',
    refund: 'Reembolso',
    refundDue: 'El pago está pendiente de devolución a quien pagó.',
    notDue: {
      failed: 'El pago no llegó, así que no hay nada que devolver.',
      cancelled: 'Si el pago llega, quedará pendiente de devolución.',
    },
  },
  {
    language: 'en',
    titles: { completed: 'Purchase delivered', failed: 'The purchase failed', cancelled: 'Purchase cancelled' },
    service: 'Service',
    reference: 'Reference',
    amount: 'Amount',
    fileNumber: 'File number',
    reason: 'Reason',
    purchase: 'Purchase',
    refund: 'Refund',
    refundDue: 'The payment is due for refund to its payer.',
    notDue: {
      failed: 'The payment did not arrive, so there is nothing to give back.',
      cancelled: 'Should the payment arrive, it will be due for refund.',
    },
  },
];
