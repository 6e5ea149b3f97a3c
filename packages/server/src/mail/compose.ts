import type { SendMailOptions } from 'nodemailer';
import type { Letter } from './mailer.ts';
import type { Sender } from './settings.ts';

/** What nodemailer makes a message of. Addresses are given in parts, so that no text is read as a list of several. */
export function compose(letter: Letter, sender: Sender): SendMailOptions {
  const domain = sender.address.slice(sender.address.lastIndexOf('@') + 1);
  return {
    from: { name: sender.name, address: sender.address },
    to: { name: '', address: letter.recipient },
    subject: letter.subject,
    messageId: `<${letter.id}@${domain}>`,
    date: letter.date,
    text: letter.text,
    html: letter.html,
    // Keeps answering machines from answering.
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': 'es, en' },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
