import { ProblemError, pageProblem } from '../engine/errors';
import { decodeLink, encodeLink, LINK_LIMIT, type SharedRun } from '../model/link';
import type { Scenario } from '../model/scenario';
import type { Lab } from './lab.svelte';

/** Larger files are no scenarios; nothing is read of them. */
const FILE_LIMIT = 1_000_000;

/** The link to this run at this instant, or null when it would be too long to travel. */
export async function linkTo(lab: Lab): Promise<string | null> {
  const run: SharedRun = {
    scenario: JSON.parse(lab.engine.scenario()),
    at: lab.cluster.now,
    to: lab.cluster.horizon,
    hash: lab.engine.traceHash(),
  };
  const link = await encodeLink(run);
  return link.length > LINK_LIMIT ? null : link;
}

/** Puts the link into the address bar and, where the browser lets us, on the clipboard. */
export async function share(lab: Lab, page: Window): Promise<void> {
  const link = await linkTo(lab);
  if (link === null) {
    lab.notices.add('notice.shared.long');
    return;
  }
  page.history.replaceState(null, '', link);
  try {
    await page.navigator.clipboard.writeText(page.location.href);
    lab.notices.add('notice.shared');
  } catch {
    lab.notices.add('notice.shared.address');
  }
}

/** Opens the run in a link. False, and a notice, when it cannot be: what runs goes on running. */
export async function openLink(lab: Lab, hash: string): Promise<boolean> {
  let opened = false;
  await lab.attend(
    async () => {
      opened = await openShared(lab, await decodeLink(hash));
    },
    'notice.link',
    'notice.link.default',
  );
  return opened;
}

/** Brings a shared run back to where it was. False when the engine refuses its scenario. */
export async function openShared(lab: Lab, run: SharedRun): Promise<boolean> {
  if (!(await lab.open(run.scenario as Scenario, null, 'notice.link'))) return false;
  lab.pause();
  lab.seek(run.to);
  const same = lab.engine.traceHash() === run.hash;
  lab.seek(run.at);
  lab.notices.add(same ? 'notice.opened' : 'notice.differs');
  return true;
}

/** Offers the scenario, interventions included, as a file. */
export function save(lab: Lab, document: Document): void {
  const text = `${JSON.stringify(JSON.parse(lab.engine.scenario()), null, 2)}\n`;
  const address = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = `tenure-${lab.seed || 'scenario'}.json`;
  anchor.click();
  URL.revokeObjectURL(address);
}

/** A file may be gone, or barred, by the time it is read. */
async function textOf(file: File): Promise<string> {
  try {
    return await file.text();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ProblemError(pageProblem('file-unreadable', file.name, { reason }));
  }
}

/** Opens a scenario file that a person chose or dropped. */
export async function openFile(lab: Lab, file: File): Promise<void> {
  if (file.size > FILE_LIMIT) {
    lab.notices.add(
      'notice.file',
      pageProblem('file-too-large', file.name, { size: file.size, limit: FILE_LIMIT }),
    );
    return;
  }
  await lab.attend(async () => {
    if (await lab.open(await textOf(file), null, 'notice.file')) lab.play();
  }, 'notice.file');
}
