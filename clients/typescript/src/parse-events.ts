/** An event of a text/event-stream. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  /** Absent if the event has no `id:`. */
  readonly id?: string;
}

/** Parses a text/event-stream (HTML standard, section 9.2.6). Drops an event that the end cuts off. */
export async function* parseEvents(texts: AsyncIterable<string>): AsyncGenerator<ServerSentEvent, void> {
  let fields: { event?: string; id?: string } = {};
  let data: string[] = [];
  for await (const line of readLines(texts)) {
    if (line === '') {
      if (data.length > 0) yield { event: 'message', ...fields, data: data.join('\n') };
      fields = {};
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    else if (name === 'event' || (name === 'id' && !value.includes('\0'))) fields = { ...fields, [name]: value };
  }
}

/** The complete lines of a text, which end with LF or CRLF. Drops a last one without an end. */
export async function* readLines(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield line.endsWith('\r') ? line.slice(0, -1) : line;
  }
}
