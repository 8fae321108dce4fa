const shownMax = 999;

export function UnreadCount({ count }: { readonly count: number }) {
  return (
    <span class="unread">
      {count > shownMax ? `${shownMax}+` : count}
      <span class="hidden"> unread</span>
    </span>
  );
}
