import type { Action } from '../engine/world';
import type { Lab } from '../lab/lab.svelte';
import { quorum } from '../model/cluster';
import type { Bench, Command } from './command';

/** The chosen node. */
export const nodeCommands: readonly Command[] = [
  {
    id: 'crash',
    group: 'node',
    label: () => 'action.crash',
    keys: ['c'],
    applies: ({ lab }) => lab.node !== null && lab.node.status !== 'crashed',
    run: ({ lab }) => act(lab.node, (name) => lab.act({ crash: name })),
  },
  {
    id: 'restart',
    group: 'node',
    label: () => 'action.restart',
    keys: ['r'],
    applies: ({ lab }) => lab.node?.status === 'crashed',
    run: ({ lab }) => act(lab.node, (name) => lab.act({ restart: name })),
  },
  {
    id: 'pause',
    group: 'node',
    label: () => 'action.pause',
    keys: ['p'],
    applies: ({ lab }) => lab.node?.status === 'up',
    run: ({ lab }) => act(lab.node, (name) => lab.act({ pause: name })),
  },
  {
    id: 'resume',
    group: 'node',
    label: () => 'action.resume',
    keys: ['p'],
    applies: ({ lab }) => lab.node?.status === 'paused',
    run: ({ lab }) => act(lab.node, (name) => lab.act({ resume: name })),
  },
  {
    id: 'resign',
    group: 'node',
    label: () => 'action.resign',
    keys: ['g'],
    applies: ({ lab }) => lab.node?.status === 'up' && lab.node.believes,
    run: ({ lab }) => act(lab.node, (name) => lab.act({ resign: name })),
  },
  {
    id: 'campaign',
    group: 'node',
    label: () => 'action.campaign',
    keys: ['v'],
    applies: ({ lab }) => lab.node?.status === 'up' && !lab.node.believes,
    run: ({ lab }) => act(lab.node, (name) => lab.act({ campaign: name })),
  },
  {
    id: 'deselect',
    group: 'node',
    label: () => 'action.deselect',
    keys: ['Escape', '0'],
    applies: ({ lab }) => lab.selected !== null,
    run: ({ lab }) => lab.select(null),
  },
];

/** The cluster as a whole. */
export const clusterCommands: readonly Command[] = [
  {
    id: 'crash-leader',
    group: 'cluster',
    label: () => 'action.crash-leader',
    keys: ['Shift+C'],
    applies: hasLeader,
    run: ({ lab }) => act(lab.leader, (name) => lab.act({ crash: name })),
  },
  {
    id: 'pause-leader',
    group: 'cluster',
    label: () => 'action.pause-leader',
    keys: ['Shift+P'],
    applies: (bench) => hasLeader(bench) && bench.lab.leader?.status === 'up',
    run: ({ lab }) => act(lab.leader, (name) => lab.act({ pause: name })),
  },
  {
    id: 'isolate-leader',
    group: 'cluster',
    label: () => 'action.isolate-leader',
    keys: ['i'],
    applies: hasLeader,
    run: ({ lab }) => {
      if (lab.leader) lab.act({ partition: named(lab, isolate(lab.cluster.nodes.length, lab.leader.id)) });
    },
  },
  {
    id: 'split',
    group: 'cluster',
    label: () => 'action.split',
    keys: ['m'],
    applies: () => true,
    run: ({ lab }) =>
      lab.act({ partition: named(lab, minorityWith(lab.cluster.nodes.length, lab.leader?.id ?? 0)) }),
  },
  {
    id: 'heal-all',
    group: 'cluster',
    label: () => 'action.heal-all',
    keys: ['h'],
    applies: ({ lab }) => lab.cluster.cut.some((row) => row.includes(true)),
    run: ({ lab }) => lab.act({ heal: 'all' }),
  },
  {
    id: 'restore',
    group: 'cluster',
    label: () => 'action.restore',
    keys: ['Shift+R'],
    applies: ({ lab }) => lab.cluster.nodes.some(({ status }) => status !== 'up'),
    run: ({ lab }) => lab.act(...restoring(lab.cluster.nodes)),
  },
];

/** One node against all others. */
export function isolate(nodes: number, alone: number): number[][] {
  return [[alone], others(nodes, [alone])];
}

/** The largest minority that this node can be in, and the majority. */
export function minorityWith(nodes: number, member: number): number[][] {
  const size = nodes - quorum(nodes);
  const minority = Array.from({ length: size }, (_, i) => (member + i) % nodes).sort((a, b) => a - b);
  return [minority, others(nodes, minority)];
}

function others(nodes: number, without: readonly number[]): number[] {
  return Array.from({ length: nodes }, (_, id) => id).filter((id) => !without.includes(id));
}

function named({ cluster }: Lab, groups: number[][]): string[][] {
  return groups.map((group) => group.map((id) => cluster.nodes[id].name));
}

function restoring(nodes: readonly { name: string; status: string }[]): Action[] {
  return nodes
    .filter(({ status }) => status !== 'up')
    .map(({ name, status }) => (status === 'crashed' ? { restart: name } : { resume: name }));
}

function hasLeader({ lab }: Bench): boolean {
  return lab.leader !== null;
}

function act(node: { name: string } | null, run: (name: string) => void): void {
  if (node) run(node.name);
}
