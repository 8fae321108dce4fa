declare module 'virtual:emoji' {
  /** Emoji by short code. */
  const emoji: Readonly<Record<string, string>>;
  export default emoji;
}
