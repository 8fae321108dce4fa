import { messageLimits, type Priority } from '@tocsin/shared/domain/messages/message.ts';

/** The rendered message, within the limits of a message. */
export interface RenderedMessage {
  readonly message: string;
  readonly title: string;
  readonly priority: Priority;
  readonly tags: readonly string[];
  /** The sequence of the alert, then those that it may continue; empty if the sender does not name the alert. */
  readonly sequenceIds: readonly string[];
  /** Whether the alert has ended. */
  readonly isResolved: boolean;
}

/** The parts of a message before truncation; lines of absent fields are empty. */
export interface RenderedParts {
  /** Blocks of lines. Undefined lines and empty blocks are omitted. */
  readonly text: readonly (readonly (string | undefined)[])[];
  readonly title: string;
  readonly priority: Priority;
  readonly tags: readonly (string | null | undefined)[];
  readonly sequenceIds?: readonly string[];
  readonly isResolved?: boolean;
}

/** Joins the parts. Long values are truncated at a code point and end with `…`. The text is never empty. */
export function renderedMessage(parts: RenderedParts): RenderedMessage {
  const { text, title, priority, tags, sequenceIds = [], isResolved = false } = parts;
  const blocks = text.map((lines) => lines.filter((line) => line !== undefined && line !== '').join('\n'));
  const known = tags
    .map((tag) => cut((tag ?? '').toWellFormed().trim(), messageLimits.tagCodePoints))
    .filter((tag) => tag !== '');
  const line = title.toWellFormed().replaceAll(/\s+/g, ' ').trim();
  const message = blocks
    .filter((block) => block !== '')
    .join('\n\n')
    .toWellFormed();
  return {
    title: cut(line, messageLimits.titleCodePoints),
    message: cut(message === '' ? line : message, messageLimits.textCodePoints),
    priority,
    tags: [...new Set(known)].slice(0, messageLimits.tags),
    sequenceIds,
    isResolved,
  };
}

/** `Name: value`; undefined without a value. */
export function labelled(name: string, value: string | null | undefined): string | undefined {
  return value === undefined || value === null || value === '' ? undefined : `${name}: ${value}`;
}

/** Truncates a text to this number of code points, ending with `…` if truncated. */
export function cut(text: string, codePointsMax: number): string {
  if (text.length <= codePointsMax) return text;
  let end = 0;
  let count = 0;
  let beforeLast = 0;
  for (const character of text) {
    count += 1;
    if (count > codePointsMax) return `${text.slice(0, beforeLast)}…`;
    beforeLast = end;
    end += character.length;
  }
  return text;
}
