const MARGIN = 8;

/** Puts a popup below its anchor, or above where there is no room, and keeps it in the window. */
export function place(popup: HTMLElement, anchor: Element): void {
  const at = anchor.getBoundingClientRect();
  const size = popup.getBoundingClientRect();
  const right = window.innerWidth - size.width - MARGIN;
  const left = Math.max(MARGIN, Math.min(at.left, right));
  const below = at.bottom + 6;
  const fits = below + size.height <= window.innerHeight - MARGIN;
  const top = fits ? below : Math.max(MARGIN, at.top - size.height - 6);
  popup.style.left = `${left}px`;
  popup.style.top = `${top}px`;
}
