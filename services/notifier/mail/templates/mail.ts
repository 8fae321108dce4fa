/** An email to send. */
export interface Mail {
  readonly to: Recipient;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The link of the email's button; null without a button. */
  readonly link: string | null;
}

/** Separate fields up to the wire, so that a name cannot inject an address or a header. */
export interface Recipient {
  readonly name: string;
  readonly address: string;
}

/** The content of an email: paragraphs and at most one action. */
export interface MailContent {
  readonly to: Recipient;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly action?: { readonly label: string; readonly link: string };
  /** The text below the button. */
  readonly closing: string;
}

/** Renders the content as plain text and as HTML without images, scripts or style sheets. Escapes all texts. */
export function layOutMail(content: MailContent): Mail {
  const { action } = content;
  const greeting = `Hello ${content.to.name},`;
  const text = [
    greeting,
    ...content.paragraphs,
    ...(action === undefined ? [] : [`${action.label}:\n${action.link}`]),
    content.closing,
  ].join('\n\n');
  const html = [
    ...[greeting, ...content.paragraphs].map(paragraph),
    ...(action === undefined
      ? []
      : [
          `<p><a href="${escapeHtml(action.link)}">${escapeHtml(action.label)}</a></p>`,
          `<p>If the link does not open, copy this address into the browser:<br>${escapeHtml(action.link)}</p>`,
        ]),
    paragraph(content.closing),
  ].join('\n');
  return {
    to: content.to,
    subject: content.subject,
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en">\n<body>\n${html}\n</body>\n</html>\n`,
    link: action?.link ?? null,
  };
}

/** Formats a time for emails: `2026-03-01 14:05 UTC`. */
export const formatDate = (timeMs: number): string =>
  `${new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const paragraph = (text: string): string => `<p>${escapeHtml(text)}</p>`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
