import type { Action } from '../engine/world';
import type { Lab } from '../lab/lab.svelte';
import { type NodeView, quorum, type ServerView } from '../model/cluster';
import { COPIED } from '../model/scenario';
import type { Bench, Command } from './command';

/** The chosen node or server. */
export const nodeCommands: readonly Command[] = [
  {
    id: 'crash',
    group: 'node',
    label: () => 'action.crash',
    keys: ['c'],
    applies: ({ lab }) => lab.chosen !== null && lab.chosen.status !== 'crashed',
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ crash: name })),
  },
  {
    id: 'restart',
    group: 'node',
    label: () => 'action.restart',
    keys: ['r'],
    applies: ({ lab }) => lab.chosen?.status === 'crashed',
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ restart: name })),
  },
  {
    id: 'pause',
    group: 'node',
    label: () => 'action.pause',
    keys: ['p'],
    applies: ({ lab }) => lab.chosen?.status === 'up',
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ pause: name })),
  },
  {
    id: 'resume',
    group: 'node',
    label: () => 'action.resume',
    keys: ['p'],
    applies: ({ lab }) => lab.chosen?.status === 'paused',
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ resume: name })),
  },
  {
    id: 'resign',
    group: 'node',
    label: ({ lab }) => (lab.server ? 'action.shut-down' : 'action.resign'),
    keys: ['g'],
    applies: ({ lab }) =>
      lab.chosen?.status === 'up' && (lab.node?.believes === true || lab.server?.broker != null),
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ resign: name })),
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
    id: 'failover',
    group: 'node',
    label: () => 'action.failover',
    keys: ['f'],
    applies: ({ lab }) => lab.server !== null && COPIED.has(lab.setting.scheme),
    run: ({ lab }) => act(lab.server, (name) => lab.act({ failover: name })),
  },
  {
    id: 'evict',
    group: 'node',
    label: () => 'action.evict',
    keys: ['d'],
    applies: ({ lab }) => lab.server?.part === 'store' && lab.server.status !== 'crashed',
    run: ({ lab }) => act(lab.server, (name) => lab.act({ evict: name })),
  },
  {
    id: 'clock-ahead',
    group: 'node',
    label: () => 'action.clock-ahead',
    keys: ['j'],
    applies: ({ lab }) => lab.cluster.servers.length > 0 && lab.chosen !== null,
    run: ({ lab }) => act(lab.chosen, (name) => lab.act({ clock: { node: name, jump: '10s' } })),
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
      if (lab.leader) lab.act({ partition: named(lab, isolate(members(lab), lab.leader.id)) });
    },
  },
  {
    id: 'split',
    group: 'cluster',
    label: () => 'action.split',
    keys: ['m'],
    applies: () => true,
    run: ({ lab }) =>
      lab.act({
        partition: named(lab, minorityWith(lab.cluster.nodes.length, lab.leader?.id ?? 0, servers(lab))),
      }),
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
    applies: ({ lab }) => processes(lab).some(({ status }) => status !== 'up'),
    run: ({ lab }) => lab.act(...restoring(processes(lab))),
  },
];

/** One node against all others. */
export function isolate(members: number, alone: number): number[][] {
  return [[alone], others(members, [alone])];
}

/** The largest minority that this node or server can be in, and the majority, with whom the other servers are. */
export function minorityWith(nodes: number, member: number, servers = 0): number[][] {
  const size = nodes - quorum(nodes);
  const first = member < nodes ? member : 0;
  const minority = Array.from({ length: size }, (_, i) => (first + i) % nodes).sort((a, b) => a - b);
  if (member >= nodes) minority.push(member);
  return [minority, others(nodes + servers, minority)];
}

function processes({ cluster }: Lab): readonly (NodeView | ServerView)[] {
  return [...cluster.nodes, ...cluster.servers];
}

function members(lab: Lab): number {
  return processes(lab).length;
}

function servers({ cluster }: Lab): number {
  return cluster.servers.length;
}

function others(nodes: number, without: readonly number[]): number[] {
  return Array.from({ length: nodes }, (_, id) => id).filter((id) => !without.includes(id));
}

function named(lab: Lab, groups: number[][]): string[][] {
  const all = processes(lab);
  return groups.map((group) => group.map((id) => all[id].name));
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
