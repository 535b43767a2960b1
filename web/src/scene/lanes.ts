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

/** How much height there is to give away. */
export type Room = 'little' | 'normal' | 'ample';

const NODE_LANE: Record<Room, number> = { little: 20, normal: 24, ample: 32 };
const SIDE_LANE: Record<Room, number> = { little: 16, normal: 16, ample: 20 };

export function planLanes(nodes: readonly number[], resources: readonly number[], room: Room): LanePlan {
  const lanes: Lane[] = [];
  let top = AXIS;
  const push = (kind: LaneKind, id: number, height: number) => {
    lanes.push({ kind, id, top, height });
    top += height;
  };
  push('faults', -1, SIDE_LANE[room]);
  for (const id of nodes) push('node', id, NODE_LANE[room]);
  for (const id of resources) push('resource', id, SIDE_LANE[room]);
  push('overlap', -1, SIDE_LANE[room]);
  push('leaderless', -1, SIDE_LANE[room]);
  return { lanes, axis: AXIS, height: top + 4 };
}
