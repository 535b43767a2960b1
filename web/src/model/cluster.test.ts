import { describe, expect, it } from 'vitest';
import {
  actors,
  flightRows,
  frame,
  nodeRows,
  resourceRows,
  serverRows,
  summaryRow,
} from '../testing/fixtures';
import { quorum, readCluster } from './cluster';

describe('servers of a store', () => {
  it('carry who holds, and how long the record has left of a lease', () => {
    const view = readCluster(
      frame({
        now: 600,
        nodes: nodeRows({}, { role: 4, term: 7, leaseStart: 0, leaseUntil: 800 }),
        servers: serverRows(
          { actor: 2, held: 1, holder: 1, token: 7, until: 1000, records: 2, ahead: 5 },
          { actor: 3, status: 2 },
        ),
      }),
      actors(2, 2),
      { ttl: 1000 },
    );
    const [held, down] = view.servers;
    expect(held).toMatchObject({ name: 's1', holder: 1, token: 7, records: 2, ahead: 5, status: 'up' });
    expect(held.lease).toEqual({ from: 0, until: 1000, left: 0.4 });
    expect(down).toMatchObject({ name: 's2', held: false, holder: null, lease: null, status: 'crashed' });
    expect(view.cut).toHaveLength(4);
    // Two servers must keep it, and one does.
    expect(view.nodes[1].promised?.until).toBe(0);
  });

  it('show how long the store keeps the record of who believes: the quorum-th latest', () => {
    const kept = (untils: number[]) =>
      readCluster(
        frame({
          nodes: nodeRows({ role: 4, term: 1, leaseStart: 0, leaseUntil: 90 }),
          servers: serverRows(...untils.map((until, i) => ({ actor: 1 + i, held: 1, holder: 0, until }))),
        }),
        actors(1, untils.length),
        { ttl: 100 },
      ).nodes[0].promised?.until;
    expect(kept([100])).toBe(100);
    expect(kept([100, 80, 70])).toBe(80);
  });
});

describe('nodes', () => {
  it('carry role, state and timers as the buffer has them', () => {
    const view = readCluster(
      frame({
        now: 150,
        nodes: nodeRows(
          { role: 4, term: 3, vote: 0, leaseStart: 100, leaseUntil: 300, believes: 1 },
          { role: 0, term: 3, follows: 0, armedAt: 100, deadline: 200, diskPending: 2 },
          { role: 2, status: 2, term: 2 },
        ),
        summary: summaryRow({ leader: 0, leaderTerm: 3 }),
      }),
      actors(3),
    );
    const [leader, follower, crashed] = view.nodes;
    expect(leader).toMatchObject({ name: 'n1', role: 'leader', leading: true, believes: true, vote: 0 });
    expect(leader.lease).toEqual({ from: 100, until: 300, left: 0.75 });
    expect(follower).toMatchObject({
      role: 'follower',
      follows: 0,
      leading: false,
      diskPending: 2,
      lease: null,
    });
    expect(follower.timer).toEqual({ from: 100, until: 200, left: 0.5 });
    expect(crashed).toMatchObject({ role: 'candidate', status: 'crashed', vote: null, timer: null });
  });

  it('show how long a majority is bound: the quorum-th latest promise to that term, the leader counted in', () => {
    const nodes = (promises: [until: number, term: number][]) =>
      readCluster(
        frame({
          now: 0,
          nodes: nodeRows(
            { role: 4, term: 5, leaseStart: 0, leaseUntil: 100 },
            ...promises.map(([promiseUntil, promiseTerm]) => ({
              promiseStart: 0,
              promiseUntil,
              promiseTerm,
            })),
          ),
        }),
        actors(promises.length + 1),
      ).nodes[0].promised?.until;
    expect(
      nodes([
        [130, 5],
        [110, 5],
        [120, 5],
        [90, 5],
      ]),
    ).toBe(120);
    // A promise to another term binds nobody to this leader.
    expect(
      nodes([
        [130, 5],
        [110, 4],
        [120, 4],
        [90, 5],
      ]),
    ).toBe(90);
    expect(
      nodes([
        [130, 4],
        [110, 4],
      ]),
    ).toBe(0);
  });
});

describe('flights', () => {
  it('are where their time says, and know that they will be lost', () => {
    const { flights } = readCluster(
      frame({
        now: 125,
        flights: flightRows(
          { id: 1, from: 0, to: 1, kind: 6, term: 2, sentAt: 100, arrivesAt: 200 },
          { id: 2, from: 1, to: 0, kind: 7, sentAt: 125, arrivesAt: 125, fate: 1 },
          { id: 3, from: 1, to: 2, sentAt: 0, arrivesAt: 100, fate: 2 },
        ),
      }),
      actors(3),
    );
    expect(flights.map(({ progress }) => progress)).toEqual([0.25, 1, 1]);
    expect(flights.map(({ lost }) => lost)).toEqual([false, true, true]);
    expect(flights[2].cutOff).toBe(true);
  });
});

describe('resources, links and summary', () => {
  it('are read by their fields', () => {
    const links = new Uint8Array(9);
    links[1 * 3 + 2] = 1;
    const view = readCluster(
      frame({
        nodes: nodeRows({}, {}, {}),
        links,
        resources: resourceRows(
          { actor: 4, fenced: 1, token: 7, writer: 2, accepted: 9, refused: 1, value: 3 },
          { actor: 5, accepted: 10, stale: 1 },
        ),
        summary: summaryRow({ overlapUs: 12, staleUnfenced: 1, messages: 99 }),
      }),
      actors(3),
    );
    expect(view.cut[1][2]).toBe(true);
    expect(view.cut.flat().filter(Boolean)).toHaveLength(1);
    expect(view.resources[0]).toMatchObject({ fenced: true, token: 7, writer: 2, refused: 1 });
    expect(view.resources[1]).toMatchObject({ fenced: false, writer: null, stale: 1 });
    expect(view.summary).toMatchObject({ overlapUs: 12, leader: null, messages: 99 });
    expect(view.client?.id).toBe(3);
  });
});

describe('quorum', () => {
  it('is more than half', () => {
    expect([1, 2, 3, 4, 5, 7].map(quorum)).toEqual([1, 2, 2, 3, 3, 4]);
  });
});
