import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MESSAGES, ROLES } from '../engine/layout';
import { along, arc, layout, lineBelow, polar, polygon, wordsAt } from './geometry';
import { bodyPath, isHollow, messageLook, messagePath } from './glyphs';
import { planLanes } from './lanes';

const sizes = fc.record({
  nodes: fc.constantFrom(3, 5, 7),
  width: fc.integer({ min: 340, max: 1800 }),
  height: fc.integer({ min: 288, max: 1200 }),
});

describe('layout', () => {
  it('keeps every node with its rings and its text on the stage', () => {
    fc.assert(
      fc.property(sizes, ({ nodes, width, height }) => {
        const { nodes: places, radius } = layout(nodes, 2, width, height);
        for (const { x, y } of places) {
          expect(x - radius * 1.5).toBeGreaterThanOrEqual(0);
          expect(x + radius * 1.5).toBeLessThanOrEqual(width);
          expect(y - radius * 1.5).toBeGreaterThanOrEqual(0);
          expect(y + radius * 2.1).toBeLessThanOrEqual(height);
        }
      }),
    );
  });

  it('keeps nodes apart from each other and from client and resources', () => {
    fc.assert(
      fc.property(sizes, ({ nodes, width, height }) => {
        const plan = layout(nodes, 2, width, height);
        plan.nodes.forEach((a, i) => {
          for (const b of [...plan.nodes.slice(i + 1), plan.client, ...plan.resources]) {
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.radius * 2);
          }
        });
      }),
    );
  });

  it('keeps servers of data with their words apart from each other and from nodes', () => {
    const stages = fc.record({
      nodes: fc.constantFrom(3, 5, 7),
      groups: fc.constantFrom(1, 2),
      copies: fc.constantFrom(2, 3),
      width: fc.integer({ min: 360, max: 2600 }),
      height: fc.integer({ min: 300, max: 1200 }),
    });
    fc.assert(
      fc.property(stages, ({ nodes, groups, copies, width, height }) => {
        const plan = layout(nodes, 0, width, height, { servers: groups * copies, groups });
        expect(plan.servers).toHaveLength(groups * copies);
        plan.servers.forEach((a, i) => {
          for (const b of plan.servers.slice(i + 1))
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.server * 2);
          for (const b of plan.nodes)
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.radius * 1.35 + plan.server);
          expect(a.y + plan.server + 2 + 2 * lineBelow(plan.server)).toBeLessThanOrEqual(height);
        });
      }),
    );
  });

  it('keeps servers in the middle apart from each other, and their rings from those of nodes', () => {
    const stages = fc.record({
      nodes: fc.constantFrom(3, 5, 7),
      servers: fc.constantFrom(1, 3, 5),
      width: fc.integer({ min: 340, max: 1800 }),
      height: fc.integer({ min: 288, max: 1200 }),
    });
    fc.assert(
      fc.property(stages, ({ nodes, servers, width, height }) => {
        const plan = layout(nodes, 2, width, height, { servers });
        expect(plan.servers).toHaveLength(servers);
        plan.servers.forEach((a, i) => {
          for (const b of plan.servers.slice(i + 1))
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.server * 2);
          for (const b of plan.nodes)
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.radius * 1.35 + plan.server * 1.5);
        });
      }),
    );
  });

  it('keeps them apart on a low stage, as it is above a log', () => {
    const low = fc.record({
      nodes: fc.constantFrom(3, 5, 7),
      width: fc.integer({ min: 600, max: 1800 }),
      height: fc.integer({ min: 208, max: 288 }),
    });
    fc.assert(
      fc.property(low, ({ nodes, width, height }) => {
        const plan = layout(nodes, 2, width, height);
        plan.nodes.forEach((a, i) => {
          // Rings reach one and a half radii.
          for (const b of plan.nodes.slice(i + 1))
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.radius * 3);
          for (const b of [plan.client, ...plan.resources])
            expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(plan.radius * 2);
        });
        const [one, other] = plan.resources;
        expect(other.y - one.y).toBeGreaterThan(75);
        expect(width - one.x).toBeGreaterThan(125);
      }),
    );
  });

  it('keeps the words at a node clear of the other nodes', () => {
    const stages = fc
      .record({
        nodes: fc.constantFrom(3, 5, 7),
        width: fc.constantFrom(390, 544, 600, 672, 1200),
        height: fc.integer({ min: 208, max: 420 }),
      })
      .filter(({ nodes, width }) => nodes < 7 || width !== 544);
    // As wide as the longest role with its votes, where text is smallest.
    const half = 44;
    fc.assert(
      fc.property(stages, ({ nodes, width, height }) => {
        const plan = layout(nodes, 2, width, Math.max(height, width < 540 ? 288 : 0));
        for (const a of plan.nodes) {
          const y = a.y + wordsAt(a, plan);
          for (const b of plan.nodes) {
            if (a === b) continue;
            const dx = Math.max(0, Math.abs(a.x - b.x) - half);
            expect(Math.hypot(dx, y - b.y)).toBeGreaterThan(plan.radius * 1.3);
          }
        }
      }),
    );
  });

  it('stands still: the same counts and size give the same places', () => {
    expect(layout(5, 2, 800, 500)).toEqual(layout(5, 2, 800, 500));
  });
});

describe('ways', () => {
  it('begin and end clear of both ends, to the right of the direction', () => {
    const a = { x: 0, y: 0 };
    const b = { x: 100, y: 0 };
    expect(along(a, b, 0, 20, 0)).toEqual({ x: 20, y: 0 });
    expect(along(a, b, 1, 20, 5)).toEqual({ x: 80, y: 5 });
    expect(along(b, a, 0.5, 20, 5)).toEqual({ x: 50, y: -5 });
  });
});

describe('arcs', () => {
  it('run clockwise from twelve o’clock', () => {
    expect(polar(10, 0.25)).toEqual({ x: 10, y: expect.closeTo(0) });
    expect(arc(10, 0)).toBe('');
    expect(arc(10, 0.25)).toBe('M0 -10A10 10 0 0 1 10 0');
    expect(arc(10, 0.75)).toContain('0 1 1');
    expect(arc(10, 7)).toBe(arc(10, 1));
  });
});

describe('shapes', () => {
  it('tell the roles apart without colour', () => {
    const outlines = new Map(ROLES.map((role) => [role, bodyPath(role, 20)]));
    expect(outlines.get('candidate')).not.toBe(outlines.get('follower'));
    expect(outlines.get('leader')).not.toBe(outlines.get('candidate'));
    expect(outlines.get('halted')).not.toBe(outlines.get('leader'));
    expect(polygon(4, 10)).toMatch(/^M.*Z$/);
  });

  it('tell a question from its answers', () => {
    const codes = Object.keys(MESSAGES).map(Number);
    const code = (name: string) => codes.find((kind) => MESSAGES[kind] === name)!;
    for (const [ask, grant, refuse] of [
      ['RequestVote', 'VoteGranted', 'VoteRefused'],
      ['RequestPreVote', 'PreVoteGranted', 'PreVoteRefused'],
      ['Heartbeat', 'HeartbeatAck', 'HeartbeatRefused'],
    ]) {
      const looks = [ask, grant, refuse].map((name) => messageLook(code(name)));
      expect(new Set(looks).size).toBe(3);
      expect(looks.map(isHollow)).toEqual([false, true, true]);
    }
    for (const kind of codes) expect(messagePath(messageLook(kind), 4)).toMatch(/^M/);
  });
});

describe('lanes', () => {
  it('lie one below the other without a gap', () => {
    const { lanes, axis, height } = planLanes([0, 1, 2], [4, 5], 'normal');
    expect(lanes[0].top).toBe(axis);
    lanes.forEach((lane, i) => {
      if (i > 0) expect(lane.top).toBe(lanes[i - 1].top + lanes[i - 1].height);
    });
    expect(height).toBeGreaterThanOrEqual(lanes[lanes.length - 1].top + lanes[lanes.length - 1].height);
    expect(lanes.filter(({ kind }) => kind === 'node').map(({ id }) => id)).toEqual([0, 1, 2]);
  });
});
