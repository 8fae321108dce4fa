const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** An id as it is stored where rows are many: a UUID as its 16 bytes, which sort as the text does, anything else as it is. */
export function packId(id: string): Uint8Array | string {
  return canonicalUuid.test(id) ? Buffer.from(id.replaceAll('-', ''), 'hex') : id;
}

export function unpackId(stored: unknown): string {
  if (typeof stored === 'string') return stored;
  const hex = Buffer.from(stored as Uint8Array).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
