/** A span as a collector receives it. IDs are in hex. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root span. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: (typeof kinds)[number];
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isFailed: boolean;
  /** The resource attributes of the process. */
  readonly resource: Readonly<Record<string, unknown>>;
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const errorStatus = 2n;

/**
 * Reads the body of a post to `/v1/traces`, an ExportTraceServiceRequest in protobuf
 * (https://github.com/open-telemetry/opentelemetry-proto: trace.proto, common.proto). Throws for an invalid body.
 */
export function decodeOtlpTraces(body: Buffer): ReceivedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const attributes = resource === undefined ? {} : attributesOf(resource, 1);
    return messages(resourceSpans, 2)
      .flatMap((scope) => messages(scope, 2))
      .map((span) => spanOf(span, attributes));
  });
}

function spanOf(span: Fields, resource: Readonly<Record<string, unknown>>): ReceivedSpan {
  const [status] = messages(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    traceState: text(span, 3),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: kinds[Number(span.get(6)?.[0] ?? 0n)]!,
    startedAt: Number(span.get(7)?.[0] as bigint) / 1e6,
    endedAt: Number(span.get(8)?.[0] as bigint) / 1e6,
    attributes: attributesOf(span, 9),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isFailed: status?.get(3)?.[0] === errorStatus,
    resource,
  };
}

function attributesOf(of: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(messages(of, field).map((pair) => [text(pair, 1), valueOf(messages(pair, 2)[0]!)]));
}

/** An AnyValue: string, boolean, integer, double or list. */
function valueOf(value: Fields): unknown {
  const [[field, [content]]] = [...value] as [[number, [bigint | Buffer]]];
  switch (field) {
    case 1:
      return (content as Buffer).toString();
    case 2:
      return content === 1n;
    case 3:
      return Number(BigInt.asIntN(64, content as bigint));
    case 4:
      return Buffer.from(BigUint64Array.of(content as bigint).buffer).readDoubleLE();
    case 5:
      return messages(fieldsOf(content as Buffer), 1).map(valueOf);
    default:
      throw new TypeError(`a value of kind ${field}`);
  }
}

/** The field values of a message, by field number: bytes, or integers of up to 64 bits. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

const messages = (of: Fields, field: number): Fields[] =>
  (of.get(field) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
const hex = (of: Fields, field: number): string => (of.get(field)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
const text = (of: Fields, field: number): string => (of.get(field)?.[0] as Buffer | undefined)?.toString() ?? '';

/** The wire format: https://protobuf.dev/programming-guides/encoding/ */
function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('a truncated message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const values = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, values);
    const wireType = tag & 7;
    if (wireType === 0) values.push(varint());
    else if (wireType === 1) values.push(take(8).readBigUInt64LE());
    else if (wireType === 2) values.push(take(Number(varint())));
    else if (wireType === 5) values.push(BigInt(take(4).readUInt32LE()));
    else throw new TypeError(`a field of wire type ${wireType}`);
  }
  return fields;
}
