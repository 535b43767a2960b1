import { pageProblem } from '../engine/errors';
import { encodeLink, LINK_LIMIT, LinkError, type SharedRun } from '../model/link';
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

/** Brings a shared run back to where it was. False when the engine refuses its scenario. */
export function openShared(lab: Lab, run: SharedRun): boolean {
  if (!lab.load(run.scenario as Scenario, null, 'notice.link')) return false;
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

/** Opens a scenario file that a person chose or dropped. */
export async function openFile(lab: Lab, file: File): Promise<void> {
  if (file.size > FILE_LIMIT) {
    lab.notices.add(
      'notice.file',
      pageProblem('file-too-large', file.name, { size: file.size, limit: FILE_LIMIT }),
    );
    return;
  }
  if (lab.load(await file.text(), null, 'notice.file')) lab.play();
}

/** What was wrong with a link, in the shape of a notice. */
export function linkProblem(error: unknown): LinkError['problem'] {
  if (error instanceof LinkError) return error.problem;
  throw error;
}
