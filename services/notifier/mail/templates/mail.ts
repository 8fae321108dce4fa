/** An email to send. */
export interface Mail {
  readonly to: Recipient;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The first link; null without links. */
  readonly link: string | null;
}

/** Separate fields up to the wire, so that a name cannot inject an address or a header. */
export interface Recipient {
  readonly name: string;
  readonly address: string;
}

/** A link with its text. */
export interface MailAction {
  readonly label: string;
  readonly link: string;
}

/** The content of an email: paragraphs and links. */
export interface MailContent {
  readonly to: Recipient;
  readonly subject: string;
  readonly paragraphs: readonly string[];
  readonly actions?: readonly MailAction[];
  /** The text below the links. */
  readonly closing: string;
}

/** Renders the content as plain text and as HTML without images, scripts or style sheets. Escapes all texts. */
export function layOutMail(content: MailContent): Mail {
  const { actions = [] } = content;
  const greeting = `Hello ${plainName(content.to.name)},`;
  const text = [
    greeting,
    ...content.paragraphs,
    ...actions.map(({ label, link }) => `${label}:\n${link}`),
    content.closing,
  ].join('\n\n');
  const html = [
    ...[greeting, ...content.paragraphs].map(paragraph),
    ...actions.flatMap(({ label, link }) => [
      `<p><a href="${escapeHtml(link)}">${escapeHtml(label)}</a></p>`,
      `<p>If the link does not open, copy this address into the browser:<br>${escapeHtml(link)}</p>`,
    ]),
    paragraph(content.closing),
  ].join('\n');
  return {
    to: content.to,
    subject: content.subject,
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en">\n<body>\n${html}\n</body>\n</html>\n`,
    link: actions[0]?.link ?? null,
  };
}

/**
 * Prevents that email programs turn a name chosen by a user into a link: inserts an invisible word joiner after each
 * character that makes one.
 */
export const plainName = (name: string): string => name.replaceAll(/[.:/@]/g, '$&\u2060');

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
