/** The rows of the timeline from top to bottom. Canvas and labels both stand by this. */
export type LaneKind = 'faults' | 'node' | 'resource' | 'overlap' | 'leaderless';

export interface Lane {
  kind: LaneKind;
  /** Node id or resource's actor id; -1 for lanes of the whole cluster. */
  id: number;
  top: number;
  height: number;
}

export interface LanePlan {
  lanes: Lane[];
  /** Height of the time axis above the lanes. */
  axis: number;
  height: number;
}

export const AXIS = 20;

export function planLanes(
  nodes: readonly number[],
  resources: readonly number[],
  compact: boolean,
): LanePlan {
  const lanes: Lane[] = [];
  let top = AXIS;
  const push = (kind: LaneKind, id: number, height: number) => {
    lanes.push({ kind, id, top, height });
    top += height;
  };
  push('faults', -1, 16);
  for (const id of nodes) push('node', id, compact ? 20 : 24);
  for (const id of resources) push('resource', id, 16);
  push('overlap', -1, 16);
  push('leaderless', -1, 16);
  return { lanes, axis: AXIS, height: top + 4 };
}
