import { AppError } from '@tocsin/shared/domain/errors.ts';
import { decodeUtf8 } from '../../../http/read-body.ts';
import { validate } from '../../../http/validate.ts';
import { alertmanagerSchema, renderAlertmanager } from './render-alertmanager.ts';
import { renderGithub } from './render-github.ts';
import { grafanaSchema, renderGrafana } from './render-grafana.ts';
import type { RenderedMessage } from './rendered-message.ts';

/** The supported webhooks. */
export const templateNames = ['alertmanager', 'grafana', 'github'] as const;

/**
 * Renders a webhook's body as a message with the named template. Throws 422 for an unknown name, and for a body that
 * does not match the template, naming the invalid fields.
 */
export function renderTemplate(name: string, body: Buffer, headers: NodeJS.Dict<string | string[]>): RenderedMessage {
  switch (name.trim().toLowerCase()) {
    case 'alertmanager':
      return renderAlertmanager(validate(alertmanagerSchema, parseObject(body)));
    case 'grafana':
      return renderGrafana(validate(grafanaSchema, parseObject(body)));
    case 'github':
      return renderGithub(parseObject(fromForm(body)), headerOf(headers, 'x-github-event'));
    default:
      throw new AppError('unprocessable', `template: must be one of ${templateNames.join(', ')}`);
  }
}

function parseObject(body: Buffer): object {
  const value = parse(decodeUtf8(body, 'body'));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('unprocessable', 'body: must be a JSON object for a template');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('unprocessable', 'body: must be JSON for a template', { cause });
  }
}

/** By default GitHub sends a form with the JSON in one field. */
function fromForm(body: Buffer): Buffer {
  if (!body.subarray(0, 8).equals(Buffer.from('payload='))) return body;
  return Buffer.from(new URLSearchParams(body.toString('latin1')).get('payload') ?? '', 'utf8');
}

function headerOf(headers: NodeJS.Dict<string | string[]>, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim().toLowerCase() : undefined;
}
