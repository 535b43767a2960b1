const MARGIN = 8;

/** Puts a popup below its anchor, or above where there is more room, and keeps it in the window. */
export function place(popup: HTMLElement, anchor: Element): void {
  popup.style.maxHeight = '';
  const at = anchor.getBoundingClientRect();
  const size = popup.getBoundingClientRect();
  const right = window.innerWidth - size.width - MARGIN;
  const left = Math.max(MARGIN, Math.min(at.left, right));
  const below = Math.max(MARGIN, at.bottom + 6);
  const room = window.innerHeight - MARGIN - below;
  const fits = size.height <= room || room >= at.top;
  if (fits && size.height > room) popup.style.maxHeight = `${room}px`;
  const top = fits ? below : Math.max(MARGIN, at.top - size.height - 6);
  popup.style.left = `${left}px`;
  popup.style.top = `${top}px`;
}
