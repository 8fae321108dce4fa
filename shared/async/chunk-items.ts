/** Splits items into arrays of the given size; the last one may be shorter. */
export async function* chunkItems<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], void> {
  let page: T[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
