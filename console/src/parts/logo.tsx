/** A ringing bell. The text next to it names it. */
export function Logo() {
  return <img class="logo" src="/assets/icon.svg" alt="" width="24" height="24" />;
}
