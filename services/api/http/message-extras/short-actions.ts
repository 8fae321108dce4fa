import { AppError } from '@tocsin/shared/domain/errors.ts';

/** The fields of an action by place, if the text does not name them. */
const fieldsByPlace = ['action', 'label', 'url'];
const namedFields = ['action', 'label', 'url', 'clear', 'method', 'body'];

/** The texts of an action by field. */
export type ShortAction = Record<string, string | Record<string, string>> & { headers: Record<string, string> };

/** A value and the place after its separator. */
interface Value {
  readonly text: string;
  readonly end: number;
  readonly endsAction: boolean;
}

const emptyAction = (): ShortAction => ({ headers: {} });

/**
 * Reads ntfy's short form: actions separated by `;`, their fields by `,`. A field is a value, or a key and a value
 * (`clear=true`, `headers.X=…`). Quotes protect separators; a backslash protects a quote. Throws 422 if malformed.
 * https://docs.ntfy.sh/publish/#action-buttons
 */
export function readShortActions(text: string): ShortAction[] {
  const actions: ShortAction[] = [];
  let draft = emptyAction();
  let index = 0;
  for (let place = 0; place < text.length;) {
    const keyStart = skipSpace(text, place);
    const key = matchAt(/([\w.-]+)\s*=\s*/y, text, keyStart);
    const value = readValue(text, keyStart + (key?.[0].length ?? 0));
    setField(draft, key?.[1] ?? fieldsByPlace[index], value.text);
    [place, index] = [value.end, index + 1];
    if (!value.endsAction) continue;
    actions.push(draft);
    [draft, index] = [emptyAction(), 0];
  }
  return actions;
}

function readValue(text: string, start: number): Value {
  const quoted = matchAt(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'/suy, text, start);
  if (quoted === null && (text[start] === '"' || text[start] === "'")) throw malformed('a quote is not closed');
  const valueEnd = quoted === null ? separatorAfter(text, start) : skipSpace(text, start + quoted[0].length);
  const separator = text[valueEnd];
  if (separator !== undefined && separator !== ',' && separator !== ';')
    throw malformed(`a separator is missing before "${text.slice(valueEnd, valueEnd + 40)}"`);
  return {
    text: quoted === null ? text.slice(start, valueEnd).trim() : (quoted[1] ?? quoted[2]!).replace(/\\(["'\\])/g, '$1'),
    end: valueEnd + 1,
    endsAction: separator !== ',',
  };
}

function separatorAfter(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== ',' && text[end] !== ';') end += 1;
  return end;
}

function skipSpace(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end]!.trim() === '') end += 1;
  return end;
}

function matchAt(pattern: RegExp, text: string, start: number): RegExpExecArray | null {
  pattern.lastIndex = start;
  return pattern.exec(text);
}

function setField(draft: ShortAction, key: string | undefined, value: string): void {
  if (key === undefined) throw malformed(`"${value.slice(0, 40)}" has no key`);
  const name = key.toLowerCase();
  if (name.startsWith('headers.')) draft.headers[key.slice('headers.'.length)] = value;
  else if (namedFields.includes(name)) draft[name] = value;
  // Fields of broadcasts, which are dropped.
  else if (!name.startsWith('extras.') && name !== 'intent')
    throw malformed(`the key "${key.slice(0, 40)}" is unknown`);
}

const malformed = (fault: string) => new AppError('unprocessable', `actions: ${fault}`);
