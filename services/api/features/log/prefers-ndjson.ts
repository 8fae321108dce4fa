import { ndjsonType } from '../../live/ndjson-sink.ts';

/**
 * Whether an `Accept` header prefers NDJSON (RFC 9110 §12.5.1): explicitly and at least as much as JSON. Wildcards
 * select the default, JSON.
 */
export function prefersNdjson(accept: string | undefined): boolean {
  const qualities = new Map((accept ?? '').split(',').map(readRange));
  const quality = qualities.get(ndjsonType) ?? 0;
  return quality > 0 && quality >= (qualities.get('application/json') ?? 0);
}

function readRange(range: string): [string, number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return [type, quality >= 0 ? quality : 0];
}
